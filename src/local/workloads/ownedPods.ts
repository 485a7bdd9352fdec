/**
 * The pods of one kind of controller. In: an owner and its pod template. Out: pods made and removed in the owner's
 * name, and the pods it has now, counting what was just written before the watch tells of it.
 */
import type { Pod, PodTemplate } from '../../api/kinds.ts';
import { apiVersionOf, type KubeObject, type OwnerReference, type ResourceKind } from '../../api/object.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { Kinds } from '../../api/kinds.ts';
import { ignoreNotFound, isConflict } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Draft, Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import type { Watch } from '../../kube/runtime/watch.ts';
import { watch } from '../../kube/runtime/watch.ts';
import type { ControllerEvents } from '../controllerEvents.ts';
import { controllerOf, OwnedObjects } from './ownedObjects.ts';

/** What every workload controller is made with. */
export interface WorkloadOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly pods: Informer<Pod>;
  /** Where the controller tells what it did. */
  readonly events: ControllerEvents;
}

export type Template = NonNullable<PodTemplate['template']>;

/** What an owner adds to its template: a fixed name instead of a generated one, labels, changes to the spec. */
export interface PodExtras {
  readonly name?: string;
  readonly generateName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly spec?: Partial<NonNullable<Pod['spec']>>;
}

export function ownerReference(kind: ResourceKind<KubeObject>, owner: KubeObject): OwnerReference {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}

function podDraft(
  kind: ResourceKind<KubeObject>,
  owner: KubeObject,
  template: Template,
  extras: PodExtras = {},
): Draft<Pod> {
  const annotations = { ...template.metadata?.annotations, ...extras.annotations };
  const spec = { containers: [], ...template.spec, ...extras.spec };
  return {
    metadata: {
      ...(extras.name ? { name: extras.name } : { generateName: extras.generateName ?? `${owner.metadata.name}-` }),
      ...(owner.metadata.namespace && { namespace: owner.metadata.namespace }),
      labels: { ...template.metadata?.labels, ...extras.labels },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(extras.finalizers && { finalizers: [...extras.finalizers] }),
      ownerReferences: [ownerReference(kind, owner)],
    },
    spec,
  };
}

/** How a controller tells of a pod that it made or removed. */
type Wording = (verb: 'create' | 'delete', pod: string, owner: string) => string;

const USUAL: Wording = (verb, pod) => `${verb === 'create' ? 'Created' : 'Deleted'} pod: ${pod}`;

export class OwnedPods {
  private readonly kind: ResourceKind<KubeObject>;
  private readonly options: WorkloadOptions;
  private readonly owned: OwnedObjects<Pod>;
  private readonly wording: Wording;

  constructor(kind: ResourceKind<KubeObject>, options: WorkloadOptions, wording = USUAL) {
    this.kind = kind;
    this.options = options;
    this.wording = wording;
    this.owned = new OwnedObjects(options.pods);
    options.pods.subscribe((event) => this.owned.observe(event));
  }

  of(owner: KubeObject): readonly Pod[] {
    return this.owned.of(owner.metadata.uid ?? '');
  }

  async create(owner: KubeObject, template: Template, extras?: PodExtras): Promise<Pod> {
    const pod = await this.options.kube.create(Kinds.Pod, podDraft(this.kind, owner, template, extras));
    this.owned.noteCreated(owner.metadata.uid ?? '', pod);
    this.tell('create', owner, pod);
    return pod;
  }

  async delete(owner: KubeObject, pod: Pod): Promise<void> {
    this.owned.noteDeleted(pod);
    const { name, namespace, uid } = pod.metadata;
    const preconditions = uid === undefined ? {} : { uid };
    try {
      await ignoreNotFound(this.options.kube.delete(Kinds.Pod, { name, namespace }, { preconditions }));
    } catch (error) {
      // Another pod has taken the name: the one meant is gone.
      if (!isConflict(error)) throw error;
    }
    this.tell('delete', owner, pod);
  }

  private tell(verb: 'create' | 'delete', owner: KubeObject, pod: Pod): void {
    const reason = verb === 'create' ? 'SuccessfulCreate' : 'SuccessfulDelete';
    const message = this.wording(verb, pod.metadata.name, owner.metadata.name);
    this.options.events.say(this.kind, owner, reason, message);
  }

  /** Wakes the owner of each pod that changes. */
  watch(): Watch {
    const { kind } = this.kind;
    return watch(this.options.pods, ({ object }) => {
      const owner = controllerOf(object);
      return owner?.kind === kind ? [`${object.metadata.namespace ?? ''}/${owner.name}`] : [];
    });
  }
}
