import { READY } from '../../api/conditionTypes.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Labels } from '../../api/labels.ts';
import type { InstanceType } from '../../cloud/instanceType.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { addResources, maxResources, subtractResources, type Resources } from '../../units/resources.ts';

/** A NodePool for which nodes may be created: dynamic, ready, not being deleted. */
export function isUsable(pool: NodePool): boolean {
  const ready = pool.status?.conditions?.some(({ type, status }) => type === READY && status === 'True') ?? false;
  return ready && pool.spec.replicas === undefined && pool.metadata.deletionTimestamp === undefined;
}

/** Nodes that have not launched yet, by pool. */
export function unlaunchedNodes(views: readonly NodeView[]): ReadonlyMap<string, readonly NodeView[]> {
  const found = new Map<string, NodeView[]>();
  for (const view of views) {
    const { claim, deleting, nodePool = '' } = view;
    if (!claim || deleting || claim.status?.capacity !== undefined) continue;
    const known = found.get(nodePool);
    if (known === undefined) found.set(nodePool, [view]);
    else known.push(view);
  }
  return found;
}

/**
 * Usage of the pool, with unlaunched nodes counted at their largest possible type: a limit must hold whatever the cloud
 * chooses.
 */
export function usageAtMost(
  used: Resources,
  unlaunched: readonly NodeView[],
  types: readonly InstanceType[],
): Resources {
  let usage = used;
  for (const { claim, capacity } of unlaunched) {
    const named = claim?.spec.requirements.find(
      ({ key, operator }) => key === Labels.instanceType && operator === 'In',
    );
    const possible = types.filter(({ name }) => named?.values?.includes(name) ?? true);
    const largest = possible.reduce<Resources>((most, type) => maxResources(most, type.capacity), capacity);
    usage = addResources(usage, subtractResources(largest, capacity));
  }
  return usage;
}
