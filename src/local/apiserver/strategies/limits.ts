/** Rules for limit ranges and quotas. */
import { Quantity } from '../../../units/quantity.ts';
import { ensureFields, fieldsAt, isFields, listAt, sameJson, setDefaults } from '../fields.ts';
import { qualifiedNameProblems } from '../names.ts';
import type { Strategy } from '../resource.ts';
import { invalidValue, type FieldError } from '../status.ts';
import { Check } from './check.ts';

export const limitRangeStrategy: Strategy = {
  applyDefaults(draft) {
    for (const limit of listAt(draft, 'spec', 'limits')) {
      if (!isFields(limit) || limit['type'] !== 'Container') continue;
      // A maximum is also what a container gets that says nothing; that, in turn, is also what it asks for.
      const fill = (target: string, source: string): void => {
        const from = fieldsAt(limit, source);
        if (from !== undefined) setDefaults(ensureFields(limit, target), from);
      };
      fill('default', 'max');
      fill('defaultRequest', 'default');
      fill('defaultRequest', 'min');
    }
  },
  validate(draft) {
    const spec = new Check(draft['spec'], 'spec');
    spec.each('limits', checkLimit);
    return spec.errors;
  },
};

/** Pairs that must be in order: where an excess is reported, which of the two is shown there, and both with their words. */
const ORDER = [
  ['min', 'min', 'min', 'max'],
  ['defaultRequest', 'defaultRequest', 'min', 'defaultRequest'],
  ['defaultRequest', 'defaultRequest', 'defaultRequest', 'max'],
  ['defaultRequest', 'defaultRequest', 'defaultRequest', 'default'],
  // Upstream shows the bound in these two.
  ['default', 'min', 'min', 'default'],
  ['default', 'max', 'default', 'max'],
] as const;
const wordOf = (bound: string): string => (bound === 'defaultRequest' ? 'default request' : bound);

function checkLimit(limit: Check): void {
  const bounds = ['min', 'max', 'default', 'defaultRequest'];
  const names = new Set(bounds.flatMap((bound) => Object.keys(fieldsAt(limit.value, bound) ?? {})));
  for (const name of names) {
    const amount = (bound: string): Quantity | undefined => {
      const value = fieldsAt(limit.value, bound)?.[name];
      return value === undefined ? undefined : Quantity.tryParse(value as string);
    };
    for (const [place, shown, low, high] of ORDER) {
      const [lower, upper] = [amount(low), amount(high)];
      if (lower === undefined || upper === undefined || lower.compare(upper) <= 0) continue;
      const why = `${wordOf(low)} value ${lower.toString()} is greater than ${wordOf(high)} value ${upper.toString()}`;
      limit.invalid(`${place}[${name}]`, amount(shown)?.toString(), why);
    }
  }
}

const COUNTED = new Set([
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);
const POD_RESOURCES = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);
const SCOPES = new Set([
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
]);

function quotaNameProblems(name: string): FieldError[] {
  const place = `spec.hard[${name}]`;
  const problems = qualifiedNameProblems(name).map((why) => invalidValue(place, name, why));
  if (problems.length > 0 || name.includes('/') || COUNTED.has(name)) return problems;
  if (name.startsWith('hugepages-') || name.startsWith('requests.hugepages-')) return [];
  const why = 'must be a standard resource for quota';
  return [invalidValue(place, name, why)];
}

function checkScopes(scopes: readonly string[], counted: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  const refuse = (why: string): void => {
    errors.push(invalidValue('spec.scopes', scopes, why));
  };
  for (const scope of scopes) {
    if (!SCOPES.has(scope)) refuse('unsupported scope');
    // What is best effort asks for nothing, so only its number can be limited.
    else if (scope === 'BestEffort' && counted.some((name) => name !== 'pods'))
      refuse('unsupported scope applied to resource');
    else if (counted.some((name) => name !== 'pods' && !POD_RESOURCES.has(name)))
      refuse('unsupported scope applied to resource');
  }
  if (scopes.includes('BestEffort') && scopes.includes('NotBestEffort')) refuse('conflicting scopes');
  if (scopes.includes('Terminating') && scopes.includes('NotTerminating')) refuse('conflicting scopes');
  return errors;
}

export const quotaStrategy: Strategy = {
  validate(draft, old) {
    const hard = fieldsAt(draft, 'spec', 'hard') ?? {};
    const errors = Object.entries(hard).flatMap(([name, amount]) => [
      ...quotaNameProblems(name),
      ...(String(amount).startsWith('-')
        ? [invalidValue(`spec.hard[${name}]`, amount, 'must be greater than or equal to 0')]
        : []),
    ]);
    const scopes = listAt(draft, 'spec', 'scopes').map(String);
    errors.push(...checkScopes(scopes, Object.keys(hard)));
    if (old !== undefined && !sameJson(scopes, listAt(old, 'spec', 'scopes'))) {
      errors.push(invalidValue('spec.scopes', scopes, 'field is immutable'));
    }
    return errors;
  },
};
