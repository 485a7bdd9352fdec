/**
 * Keeps the status of ResourceQuotas current: recomputes limits and usage after objects were deleted or changed in a
 * way that frees quota.
 */
import { sameJson, textAt } from '../fields.ts';
import { followUp } from '../followUp.ts';
import type { Objects } from '../objects.ts';
import type { StoreEvent, Table } from '../store.ts';
import { countedQuota } from './quota.ts';

const QUOTAS = 'resourcequotas';

/** Returns a function that stops this. */
export function keepQuotas(objects: Objects): () => void {
  const resource = objects.builtin('', QUOTAS);
  const table = objects.tableOf(resource);

  function recount(namespace: string): void {
    const quotas = table.page({ namespace }).items;
    if (quotas.length === 0) return;
    const inside = objects
      .namespacedTables()
      .flatMap(([{ storage }, contents]) => contents.page({ namespace }).items.map((one) => [storage, one] as const));
    for (const quota of quotas) {
      const { status } = countedQuota(quota, inside);
      if (sameJson(status, quota['status'])) continue;
      objects.setStatus({ resource, namespace, name: quota.metadata.name }, 'kube-controller-manager', status);
    }
  }

  return followUp(objects.store, recount, (event, source) => {
    const { namespace } = event.object.metadata;
    return namespace !== undefined && table.size > 0 && freesOrLimits(event, source) ? [namespace] : [];
  });
}

/** Whether an object was deleted, the phase of a pod changed, or a quota was created or changed. */
function freesOrLimits({ type, object, previous }: StoreEvent, table: Table): boolean {
  if (type === 'DELETED') return true;
  if (table.id === QUOTAS) return !sameJson(object['spec'], previous?.['spec']);
  const phase = (pod: unknown): string | undefined => textAt(pod, 'status', 'phase');
  return type === 'MODIFIED' && table.id === 'pods' && phase(object) !== phase(previous);
}
