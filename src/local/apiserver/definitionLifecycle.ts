/**
 * The life of a CRD: a new definition is established a moment later; one that is being deleted takes its objects along,
 * and goes itself when the last of them (finalizers included) has gone.
 */
import { deleteObject, releaseFinalizer } from './deletion.ts';
import { textAt, type ApiObject } from './fields.ts';
import { FollowUp } from './followUp.ts';
import type { Objects } from './objects.ts';
import type { Resource } from './resource.ts';
import { CLEANUP_FINALIZER, establishedStatus } from './strategies/customResourceDefinition.ts';
import { serverWrite } from './writeRequest.ts';

const STATUS_WRITE = serverWrite('kube-apiserver', 'status');

export class DefinitionLifecycle {
  private readonly objects: Objects;
  private readonly definitions: Resource;
  /** Names of definitions that are being deleted; a definition is named after its table. */
  private readonly leaving = new Set<string>();
  private readonly followUp: FollowUp<string>;

  constructor(objects: Objects) {
    this.objects = objects;
    this.definitions = objects.builtin('apiextensions.k8s.io', 'customresourcedefinitions');
    const table = objects.tableOf(this.definitions);
    this.followUp = new FollowUp(
      objects.store,
      (name) => this.settle(name),
      (event, source) => {
        if (source === table) this.note(event.type, event.object);
        else if (event.type === 'DELETED' && this.leaving.has(source.id)) this.followUp.ask(source.id);
      },
    );
    for (const definition of table.values()) this.note('MODIFIED', definition);
  }

  stop(): void {
    this.followUp.stop();
  }

  private note(type: 'ADDED' | 'MODIFIED' | 'DELETED', { metadata }: ApiObject): void {
    const { name, deletionTimestamp } = metadata;
    if (type === 'DELETED') this.leaving.delete(name);
    else if (deletionTimestamp !== undefined) this.leaving.add(name);
    if (type === 'ADDED' || this.leaving.has(name)) this.followUp.ask(name);
  }

  private settle(name: string): void {
    const definition = this.objects.tableOf(this.definitions).get(name);
    if (definition === undefined) return;
    if (this.leaving.has(name)) this.empty(definition);
    else this.establish(name);
  }

  private establish(name: string): void {
    const target = { resource: this.definitions, namespace: undefined, name };
    this.objects.update(target, STATUS_WRITE, (live) => ({
      ...live,
      status: establishedStatus(live['spec'], this.objects.now()),
    }));
  }

  private empty(definition: ApiObject): void {
    const group = textAt(definition, 'spec', 'group');
    const plural = textAt(definition, 'spec', 'names', 'plural');
    const resource = this.objects.catalog.all().find((one) => one.group === group && one.plural === plural);
    if (resource !== undefined) {
      const table = this.objects.tableOf(resource);
      for (const { metadata } of table.page().items) {
        if (metadata.deletionTimestamp !== undefined) continue;
        deleteObject(this.objects, { resource, namespace: metadata.namespace, name: metadata.name }, BACKGROUND);
      }
      if (table.size > 0) return;
    }
    releaseFinalizer(this.objects, this.definitions, definition, CLEANUP_FINALIZER);
  }
}

const BACKGROUND = { propagationPolicy: 'Background' } as const;
