/**
 * Keeps the status of ResourceQuotas true: what they allow and what is used, counted again a step after something that
 * they limit has gone or changed.
 */
import { sameJson, textAt } from '../fields.ts';
import { FollowUp } from '../followUp.ts';
import type { Objects } from '../objects.ts';
import type { StoreEvent, Table } from '../store.ts';
import { serverWrite } from '../writeRequest.ts';
import { countedQuota } from './quota.ts';

const QUOTAS = 'resourcequotas';
const WRITE = serverWrite('kube-controller-manager', 'status');

export class QuotaKeeper {
  private readonly objects: Objects;
  private readonly followUp: FollowUp<string>;

  constructor(objects: Objects) {
    this.objects = objects;
    const quotas = objects.store.table('', QUOTAS);
    this.followUp = new FollowUp(
      objects.store,
      (namespace) => this.recount(namespace),
      (event, table) => {
        const { namespace } = event.object.metadata;
        if (namespace !== undefined && quotas.size > 0 && freesOrLimits(event, table)) this.followUp.ask(namespace);
      },
    );
  }

  stop(): void {
    this.followUp.stop();
  }

  private recount(namespace: string): void {
    const resource = this.objects.builtin('', QUOTAS);
    const quotas = this.objects.tableOf(resource).page({ namespace }).items;
    if (quotas.length === 0) return;
    const seen = new Set<Table>();
    const inside = this.objects.catalog.all().flatMap((kind) => {
      const contents = this.objects.tableOf(kind);
      if (!kind.namespaced || seen.has(contents)) return [];
      seen.add(contents);
      const { group, plural } = kind.storage;
      return contents.page({ namespace }).items.map((object) => [{ group, plural }, object] as const);
    });
    for (const quota of quotas) {
      const { status } = countedQuota(quota, inside);
      if (sameJson(status, quota['status'])) continue;
      const target = { resource, namespace, name: quota.metadata.name };
      this.objects.update(target, WRITE, () => ({ ...quota, status }));
    }
  }
}

/** Something went, a pod changed its phase, or a quota its limits. */
function freesOrLimits({ type, object, previous }: StoreEvent, table: Table): boolean {
  if (type === 'DELETED') return true;
  if (table.id === QUOTAS) return !sameJson(object['spec'], previous?.['spec']);
  const phase = (pod: unknown): string | undefined => textAt(pod, 'status', 'phase');
  return type === 'MODIFIED' && table.id === 'pods' && phase(object) !== phase(previous);
}
