/**
 * The life of a CRD. In: the store's changes. Out: a new definition is established a moment later; one that is being
 * deleted takes its objects along, and goes itself when the last of them (finalizers included) has gone.
 */
import type { Clock } from '../../clock/clock.ts';
import { deleteObject } from './deletion.ts';
import { textAt, type ApiObject } from './fields.ts';
import { isFinished, type Objects } from './objects.ts';
import type { Resource } from './resource.ts';
import { CLEANUP_FINALIZER, establishedStatus } from './strategies/customResourceDefinition.ts';

const DEFINITIONS = { group: 'apiextensions.k8s.io', plural: 'customresourcedefinitions' };

const STATUS_WRITE = {
  fieldManager: 'kube-apiserver',
  dryRun: false,
  fieldValidation: 'Ignore',
  subresource: 'status',
} as const;

export class DefinitionLifecycle {
  private readonly objects: Objects;
  private readonly clock: Clock;
  /** Names of definitions on their way out; a definition is named after its table. */
  private readonly leaving = new Set<string>();
  private scheduled = false;
  private readonly stopListening: () => void;

  constructor(objects: Objects, clock: Clock) {
    this.objects = objects;
    this.clock = clock;
    const definitions = objects.store.table(DEFINITIONS.group, DEFINITIONS.plural);
    this.stopListening = objects.store.subscribe((event, table) => {
      if (table === definitions) {
        const { name, deletionTimestamp } = event.object.metadata;
        if (event.type === 'ADDED') queueMicrotask(() => this.establish(name));
        if (event.type === 'DELETED') this.leaving.delete(name);
        else if (deletionTimestamp !== undefined) {
          this.leaving.add(name);
          this.schedule();
        }
      } else if (event.type === 'DELETED' && this.leaving.has(table.id)) this.schedule();
    });
  }

  stop(): void {
    this.stopListening();
  }

  private establish(name: string): void {
    const resource = this.objects.catalog.find(DEFINITIONS.group, 'v1', DEFINITIONS.plural);
    if (resource === undefined || this.objects.tableOf(resource).get(name) === undefined) return;
    this.objects.update(resource, undefined, name, STATUS_WRITE, (live) => ({
      ...live,
      status: establishedStatus(live['spec'], this.objects.now()),
    }));
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      for (const name of Array.from(this.leaving)) this.empty(name);
    });
  }

  private empty(name: string): void {
    const definition = this.objects.store.table(DEFINITIONS.group, DEFINITIONS.plural).get(name);
    if (definition === undefined) return;
    const resource = this.servedBy(definition);
    if (resource !== undefined) {
      const table = this.objects.tableOf(resource);
      for (const { metadata } of table.page().items) {
        if (metadata.deletionTimestamp !== undefined) continue;
        const options = { propagationPolicy: 'Background' } as const;
        deleteObject(this.objects, resource, metadata.namespace, metadata.name, options, this.clock.now());
      }
      if (table.size > 0) return;
    }
    this.release(definition);
  }

  private servedBy(definition: ApiObject): Resource | undefined {
    const group = textAt(definition, 'spec', 'group');
    const plural = textAt(definition, 'spec', 'names', 'plural');
    return this.objects.catalog.all().find((resource) => resource.group === group && resource.plural === plural);
  }

  private release(definition: ApiObject): void {
    const { finalizers = [], ...metadata } = definition.metadata;
    const others = finalizers.filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
    if (others.length === finalizers.length) return;
    const freed = { ...definition, metadata: { ...metadata, ...(others.length === 0 ? {} : { finalizers: others }) } };
    const table = this.objects.store.table(DEFINITIONS.group, DEFINITIONS.plural);
    if (isFinished(freed)) table.remove(metadata.name, freed);
    else table.put(metadata.name, freed);
  }
}
