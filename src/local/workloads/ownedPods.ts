/** Creates and deletes the pods of one kind of workload, and records events about that. */
import { Kinds, type Pod, type PodTemplate } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Draft, Kube } from '../../kube/kube.ts';
import { keyOf, type Watch } from '../../kube/runtime/watch.ts';
import { BY_CONTROLLER, controllerOf } from '../clusterInformers.ts';
import type { ControllerEvents } from '../controllerEvents.ts';
import { watchOwned, type ControlPlaneContext } from '../controlLoop.ts';
import { deletePod, inNamespaceOf, ownerReference } from '../writes.ts';

export type Template = NonNullable<PodTemplate['template']>;

/** Additions to a pod template: a fixed name instead of a generated one, labels, changes to the spec. */
export interface PodExtras {
  readonly name?: string;
  readonly generateName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly spec?: Partial<NonNullable<Pod['spec']>>;
}

type Verb = 'create' | 'delete';
const REASONS: Readonly<Record<Verb, string>> = { create: 'SuccessfulCreate', delete: 'SuccessfulDelete' };
const usualMessage = (verb: Verb, pod: string): string => `${verb === 'create' ? 'Created' : 'Deleted'} pod: ${pod}`;

export class OwnedPods {
  private readonly kind: ResourceKind<KubeObject>;
  private readonly kube: Kube;
  private readonly pods: Informer<Pod>;
  private readonly events: ControllerEvents;
  private readonly message: (verb: Verb, pod: string, owner: string) => string;
  /** Created pods that are not in the informer yet, by owner; without them, pods would be created twice. */
  private readonly created = new Map<string, Map<string, Pod>>();
  /** UIDs of pods whose deletion is not in the informer yet. */
  private readonly deleted = new Set<string>();

  constructor(
    kind: ResourceKind<KubeObject>,
    { kube, informers: { pods } }: ControlPlaneContext,
    events: ControllerEvents,
    message: (verb: Verb, pod: string, owner: string) => string = usualMessage,
  ) {
    this.kind = kind;
    this.kube = kube;
    this.pods = pods;
    this.events = events;
    this.message = message;
    pods.subscribe(({ type, object }) => {
      const { uid = '', deletionTimestamp } = object.metadata;
      if (type === 'deleted' || deletionTimestamp) this.deleted.delete(uid);
      const owner = controllerOf(object)?.uid ?? '';
      const created = this.created.get(owner);
      if (created?.delete(keyOf(object)) && created.size === 0) this.created.delete(owner);
    });
  }

  /** Returns the pods of an owner: those in the informer and those just created, without those just deleted. */
  of({ metadata: { uid = '' } }: KubeObject): readonly Pod[] {
    const listed = this.pods.store.byIndex(BY_CONTROLLER, uid);
    const alive = this.deleted.size === 0 ? listed : listed.filter((pod) => !this.deleted.has(pod.metadata.uid ?? ''));
    return [...alive, ...(this.created.get(uid)?.values() ?? [])];
  }

  async create(owner: KubeObject, template: Template, extras: PodExtras = {}): Promise<void> {
    const pod = await this.kube.create(Kinds.Pod, this.draft(owner, template, extras));
    // The informer may already have the pod.
    if (this.pods.store.get(pod.metadata)?.metadata.uid !== pod.metadata.uid) {
      const { uid = '' } = owner.metadata;
      this.created.set(uid, (this.created.get(uid) ?? new Map<string, Pod>()).set(keyOf(pod), pod));
    }
    this.record('create', owner, pod);
  }

  async delete(owner: KubeObject, pod: Pod): Promise<void> {
    const { uid = '' } = pod.metadata;
    this.deleted.add(uid);
    try {
      await deletePod(this.kube, pod);
    } catch (error) {
      this.deleted.delete(uid);
      throw error;
    }
    this.record('delete', owner, pod);
  }

  /** Queues the owner of each pod that changes. */
  watch(): Watch {
    return watchOwned(this.pods, this.kind);
  }

  private draft(owner: KubeObject, template: Template, extras: PodExtras): Draft<Pod> {
    const annotations = { ...template.metadata?.annotations, ...extras.annotations };
    return {
      metadata: {
        ...(extras.name ? { name: extras.name } : { generateName: extras.generateName ?? `${owner.metadata.name}-` }),
        ...inNamespaceOf(owner),
        labels: { ...template.metadata?.labels, ...extras.labels },
        ...(Object.keys(annotations).length > 0 && { annotations }),
        ...(extras.finalizers && { finalizers: [...extras.finalizers] }),
        ownerReferences: [ownerReference(this.kind, owner)],
      },
      spec: { containers: [], ...template.spec, ...extras.spec },
    };
  }

  private record(verb: Verb, owner: KubeObject, pod: Pod): void {
    const message = this.message(verb, pod.metadata.name, owner.metadata.name);
    this.events.say(this.kind, owner, REASONS[verb], message);
  }
}
