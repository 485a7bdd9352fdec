/**
 * ResourceQuotas: charges a new object to the quotas of its namespace and returns their new status; throws Forbidden
 * when one is exceeded.
 */
import type { Pod } from '../../../api/kinds.ts';
import { isTerminal } from '../../../pods/podPredicates.ts';
import { Quantity } from '../../../units/quantity.ts';
import { at, copyJson, fieldsAt, isFields, listAt, textAt, type ApiObject } from '../fields.ts';
import type { Resource } from '../resource.ts';
import { qosClass } from '../strategies/podQuality.ts';
import { forbidden } from '../status.ts';
import type { Store } from '../store.ts';
import { amountsAt, podAmounts, type Amounts } from './podResources.ts';

type Counted = Pick<Resource, 'group' | 'plural'>;

const COMPUTE = new Set(['cpu', 'memory', 'ephemeral-storage']);
/** Resources counted by their plain name as well as by `count/…`. */
const BARE = new Set(['services', 'configmaps', 'secrets', 'replicationcontrollers', 'resourcequotas']);
const ONE = Quantity.fromValue(1);

function podUsage(pod: ApiObject, used: Map<string, Quantity>): void {
  if (isTerminal(pod as unknown as Pod)) return;
  used.set('pods', ONE);
  for (const [name, amount] of podAmounts(pod, 'requests')) {
    if (COMPUTE.has(name)) used.set(name, amount);
    used.set(`requests.${name}`, amount);
  }
  for (const [name, amount] of podAmounts(pod, 'limits')) if (COMPUTE.has(name)) used.set(`limits.${name}`, amount);
}

/** Returns the usage of one object by the resource names of quotas. */
function usageOf({ group, plural }: Counted, object: ApiObject): Amounts {
  const used = new Map<string, Quantity>([[`count/${plural}${group === '' ? '' : `.${group}`}`, ONE]]);
  if (group !== '') return used;
  if (BARE.has(plural)) used.set(plural, ONE);
  if (plural === 'pods') podUsage(object, used);
  if (plural === 'services') {
    const type = textAt(object, 'spec', 'type');
    const ports = Quantity.fromValue(listAt(object, 'spec', 'ports').length);
    if (type === 'LoadBalancer') used.set('services.loadbalancers', ONE);
    if (type === 'LoadBalancer' || type === 'NodePort') used.set('services.nodeports', ports);
  }
  if (plural === 'persistentvolumeclaims') {
    const storage = amountsAt(object, 'spec', 'resources', 'requests').get('storage') ?? Quantity.zero;
    const storageClass = `${textAt(object, 'spec', 'storageClassName') ?? ''}.storageclass.storage.k8s.io`;
    used.set('persistentvolumeclaims', ONE).set('requests.storage', storage);
    used.set(`${storageClass}/persistentvolumeclaims`, ONE).set(`${storageClass}/requests.storage`, storage);
  }
  return used;
}

function inScope(quota: ApiObject, { group, plural }: Counted, object: ApiObject): boolean {
  const scopes = [
    ...listAt(quota, 'spec', 'scopes').map((scopeName) => ({ scopeName })),
    ...listAt(quota, 'spec', 'scopeSelector', 'matchExpressions'),
  ];
  if (scopes.length === 0) return true;
  if (group !== '' || plural !== 'pods') return false;
  return scopes.every((scope) => {
    const isBestEffort = qosClass(fieldsAt(object, 'spec') ?? {}) === 'BestEffort';
    const ends = at(object, 'spec', 'activeDeadlineSeconds') !== undefined;
    const holds: Readonly<Record<string, boolean>> = {
      BestEffort: isBestEffort,
      NotBestEffort: !isBestEffort,
      Terminating: ends,
      NotTerminating: !ends,
      PriorityClass: matchesPriority(scope, textAt(object, 'spec', 'priorityClassName') ?? ''),
    };
    return holds[textAt(scope, 'scopeName') ?? ''] === true;
  });
}

function matchesPriority(scope: unknown, name: string): boolean {
  const values = listAt(scope, 'values');
  switch (textAt(scope, 'operator') ?? 'Exists') {
    case 'In':
      return values.includes(name);
    case 'NotIn':
      return !values.includes(name);
    case 'DoesNotExist':
      return name === '';
    default:
      return name !== '';
  }
}

/** Throws if a container lacks a request or limit that the quota requires. */
function checkSpecified(quota: ApiObject, hard: Amounts, resource: Resource, pod: ApiObject): void {
  const missing: string[] = [];
  for (const limited of [...hard.keys()].sort()) {
    const [kind, name = ''] = limited.includes('.') ? limited.split(/\.(.*)/, 2) : ['requests', limited];
    if ((kind !== 'requests' && kind !== 'limits') || !COMPUTE.has(name)) continue;
    const containers = [...listAt(pod, 'spec', 'containers'), ...listAt(pod, 'spec', 'initContainers')];
    const silent = containers.filter((container) => !amountsAt(container, 'resources', kind).has(name));
    if (silent.length > 0) missing.push(`${limited} for: ${silent.map((one) => textAt(one, 'name') ?? '').join(',')}`);
  }
  if (missing.length === 0) return;
  const why = `failed quota: ${quota.metadata.name}: must specify ${missing.join('; ')}`;
  throw forbidden(resource, pod.metadata.name, why);
}

export interface ChargedQuota {
  readonly namespace: string;
  readonly name: string;
  readonly status: unknown;
}

export function chargeQuota(store: Store, resource: Resource, draft: ApiObject): ChargedQuota[] {
  const { namespace } = draft.metadata;
  if (namespace === undefined) return [];
  const quotas = store.table('', 'resourcequotas');
  if (quotas.size === 0) return [];
  const usage = usageOf(resource, draft);
  return quotas.page({ namespace }).items.flatMap((quota): ChargedQuota[] => {
    const hard = amountsAt(quota, 'status', 'hard');
    const isPod = resource.group === '' && resource.plural === 'pods';
    if (!inScope(quota, resource, draft)) return [];
    const concerned = [...hard.keys()].filter((name) => usage.has(name)).sort();
    if (isPod) checkSpecified(quota, hard, resource, draft);
    if (concerned.length === 0) return [];
    const used = new Map(amountsAt(quota, 'status', 'used'));
    const after = (name: string): Quantity => (used.get(name) ?? Quantity.zero).add(usage.get(name) ?? Quantity.zero);
    const exceeded = concerned.filter((name) => {
      const amount = usage.get(name) ?? Quantity.zero;
      return !amount.isZero() && after(name).compare(hard.get(name) ?? Quantity.zero) > 0;
    });
    if (exceeded.length > 0) {
      const list = (amounts: Amounts): string =>
        exceeded.map((name) => `${name}=${(amounts.get(name) ?? Quantity.zero).toString()}`).join(',');
      const why = `requested: ${list(usage)}, used: ${list(used)}, limited: ${list(hard)}`;
      throw forbidden(resource, draft.metadata.name, `exceeded quota: ${quota.metadata.name}, ${why}`);
    }
    for (const name of concerned) used.set(name, after(name));
    return [{ namespace, name: quota.metadata.name, status: withUsage(quota, used)['status'] }];
  });
}

function withUsage(quota: ApiObject, used: Amounts): ApiObject {
  const object = copyJson(quota);
  const status = isFields(object['status']) ? object['status'] : {};
  const shown = [...used].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, amount]) => [name, amount.toString()]);
  object['status'] = { ...status, used: Object.fromEntries(shown) as Record<string, string> };
  return object;
}

/** Returns a quota with a newly computed status: its limits and the usage of the namespace's objects. */
export function countedQuota(quota: ApiObject, objects: Iterable<readonly [Counted, ApiObject]>): ApiObject {
  const hard = amountsAt(quota, 'spec', 'hard');
  const used = new Map([...hard.keys()].map((name) => [name, Quantity.zero]));
  for (const [resource, object] of objects) {
    if (!inScope(quota, resource, object)) continue;
    for (const [name, amount] of usageOf(resource, object)) {
      const known = used.get(name);
      if (known !== undefined) used.set(name, known.add(amount));
    }
  }
  const counted = copyJson(quota);
  counted['status'] = { hard: { ...fieldsAt(quota, 'spec', 'hard') } };
  return withUsage(counted, used);
}
