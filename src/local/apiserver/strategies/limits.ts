/** Rules for limit ranges and quotas. */
import { Quantity } from '../../../units/quantity.ts';
import { ensureFields, fieldsAt, isFields, listAt, sameJson, setDefaults } from '../fields.ts';
import { qualifiedNameProblems } from '../names.ts';
import type { Strategy } from '../resource.ts';
import { invalidValue, type FieldError } from '../status.ts';

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
  validate: (draft) => listAt(draft, 'spec', 'limits').flatMap((limit, index) => checkLimit(limit, index)),
};

function checkLimit(limit: unknown, index: number): FieldError[] {
  const errors: FieldError[] = [];
  const amount = (which: string, name: string): Quantity | undefined => {
    const value = fieldsAt(limit, which)?.[name];
    return value === undefined ? undefined : Quantity.tryParse(value as string);
  };
  const names = new Set(
    ['min', 'max', 'default', 'defaultRequest'].flatMap((one) => Object.keys(fieldsAt(limit, one) ?? {})),
  );
  for (const name of names) {
    const least = amount('min', name);
    const most = amount('max', name);
    const usual = amount('default', name);
    const usualRequest = amount('defaultRequest', name);
    const complain = (
      which: string,
      shown: Quantity,
      low: string,
      lower: Quantity,
      high: string,
      upper: Quantity,
    ): void => {
      const why = `${low} value ${lower.toString()} is greater than ${high} value ${upper.toString()}`;
      errors.push(invalidValue(`spec.limits[${index}].${which}[${name}]`, shown.toString(), why));
    };
    if (least && most && least.compare(most) > 0) complain('min', least, 'min', least, 'max', most);
    if (usualRequest && least && least.compare(usualRequest) > 0) {
      complain('defaultRequest', usualRequest, 'min', least, 'default request', usualRequest);
    }
    if (usualRequest && most && usualRequest.compare(most) > 0) {
      complain('defaultRequest', usualRequest, 'default request', usualRequest, 'max', most);
    }
    if (usualRequest && usual && usualRequest.compare(usual) > 0) {
      complain('defaultRequest', usualRequest, 'default request', usualRequest, 'default', usual);
    }
    // Upstream shows the minimum here.
    if (usual && least && least.compare(usual) > 0) complain('default', least, 'min', least, 'default', usual);
    if (usual && most && usual.compare(most) > 0) complain('default', most, 'default', usual, 'max', most);
  }
  return errors;
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
