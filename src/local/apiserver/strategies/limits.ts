/** Rules for limit ranges and quotas. */
import { Quantity } from '../../../units/quantity.ts';
import { ensureFields, fieldsAt, isFields, listAt, sameJson, setDefaults } from '../fields.ts';
import { qualifiedNameProblems } from '../names.ts';
import type { Strategy } from '../resource.ts';
import type { Check } from './check.ts';

export const limitRangeStrategy: Strategy = {
  applyDefaults(draft) {
    for (const limit of listAt(draft, 'spec', 'limits')) {
      if (!isFields(limit) || limit['type'] !== 'Container') continue;
      // The default limit is the maximum; the default request is the default limit, otherwise the minimum.
      const fill = (target: string, source: string): void => {
        const from = fieldsAt(limit, source);
        if (from !== undefined) setDefaults(ensureFields(limit, target), from);
      };
      fill('default', 'max');
      fill('defaultRequest', 'default');
      fill('defaultRequest', 'min');
    }
  },
  validate: (check) => check.at('spec').each('limits', checkLimit),
};

/** Rows of: the field of the error, the field whose value it shows, and two fields of which the first must be ≤. */
const ORDER = [
  ['min', 'min', 'min', 'max'],
  ['defaultRequest', 'defaultRequest', 'min', 'defaultRequest'],
  ['defaultRequest', 'defaultRequest', 'defaultRequest', 'max'],
  ['defaultRequest', 'defaultRequest', 'defaultRequest', 'default'],
  // In these two, upstream shows the value of the bound.
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

function quotaNameProblems(name: string): readonly string[] {
  const problems = qualifiedNameProblems(name);
  if (problems.length > 0 || name.includes('/') || COUNTED.has(name)) return problems;
  return /^(requests\.)?hugepages-/.test(name) ? [] : ['must be a standard resource for quota'];
}

function checkScopes(scopes: readonly string[], counted: readonly string[], refuse: (why: string) => void): void {
  for (const scope of scopes) {
    // BestEffort pods request nothing, so only their number can be limited.
    const isCounted = (name: string): boolean => scope !== 'BestEffort' && POD_RESOURCES.has(name);
    if (!SCOPES.has(scope)) refuse('unsupported scope');
    else if (counted.some((name) => name !== 'pods' && !isCounted(name)))
      refuse('unsupported scope applied to resource');
  }
  for (const scope of ['BestEffort', 'Terminating']) {
    if (scopes.includes(scope) && scopes.includes(`Not${scope}`)) refuse('conflicting scopes');
  }
}

export const quotaStrategy: Strategy = {
  validate(check, _draft, old) {
    const spec = check.at('spec');
    const hard = Object.entries(fieldsAt(spec.value, 'hard') ?? {});
    for (const [name, amount] of hard) {
      spec.problems(`hard[${name}]`, name, quotaNameProblems);
      if (!String(amount).startsWith('-')) continue;
      spec.invalid(`hard[${name}]`, amount, 'must be greater than or equal to 0');
    }
    const scopes = spec.list('scopes').map(String);
    const refuse = (why: string): void => spec.invalid('scopes', scopes, why);
    checkScopes(
      scopes,
      hard.map(([name]) => name),
      refuse,
    );
    if (old !== undefined && !sameJson(scopes, listAt(old, 'spec', 'scopes'))) refuse('field is immutable');
  },
};
