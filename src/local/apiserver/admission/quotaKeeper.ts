/**
 * Keeps the status of ResourceQuotas true. In: every change of the store. Out: quotas whose status says what they allow
 * and what is used, recounted a step after something that they limit has gone or changed.
 */
import { sameJson, textAt } from '../fields.ts';
import type { Objects } from '../objects.ts';
import type { StoreEvent, Table } from '../store.ts';
import { countedQuota } from './quota.ts';

const QUOTAS = 'resourcequotas';
const WRITE = {
  fieldManager: 'kube-controller-manager',
  dryRun: false,
  fieldValidation: 'Ignore',
  subresource: 'status',
} as const;

export class QuotaKeeper {
  private readonly objects: Objects;
  private readonly dirty = new Set<string>();
  private scheduled = false;
  private readonly stopListening: () => void;

  constructor(objects: Objects) {
    this.objects = objects;
    this.stopListening = objects.store.subscribe((event, table) => this.note(event, table));
  }

  stop(): void {
    this.stopListening();
    this.dirty.clear();
  }

  private note(event: StoreEvent, table: Table): void {
    const { namespace } = event.object.metadata;
    if (namespace === undefined || this.objects.store.table('', QUOTAS).size === 0) return;
    const ended =
      event.type === 'MODIFIED' &&
      table.id === 'pods' &&
      textAt(event.object, 'status', 'phase') !== textAt(event.previous, 'status', 'phase');
    const respecified =
      table.id === QUOTAS && !sameJson(event.object['spec'], event.previous?.['spec']) && event.type !== 'DELETED';
    if (event.type !== 'DELETED' && !ended && !respecified) return;
    this.dirty.add(namespace);
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      const namespaces = [...this.dirty];
      this.dirty.clear();
      for (const one of namespaces) this.recount(one);
    });
  }

  private recount(namespace: string): void {
    const resource = this.objects.catalog.find('', 'v1', QUOTAS);
    if (resource === undefined) return;
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
      const counted = countedQuota(quota, inside);
      if (sameJson(counted['status'], quota['status'])) continue;
      this.objects.update(resource, namespace, quota.metadata.name, WRITE, () => ({
        ...quota,
        status: counted['status'],
      }));
    }
  }
}
