import { Kinds, type Lease } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';
import { ignoreNotFound, isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { microTimestamp } from '../../units/timestamp.ts';
import { isReady } from '../workloads/podState.ts';
import { createIfAbsent, unlessReplaced } from '../writes.ts';
import { nodeBecame, nodeStarted, type EventText } from './kubeletEvents.ts';
import type { BootedInstance } from './instance.ts';
import { instanceAddress, nodeObject, problemConditions, readyConditions } from './nodeObject.ts';
import { PodRunner, type KubeletOptions } from './podRunner.ts';

export interface KubeletsOptions extends KubeletOptions {
  /** Milliseconds between renewals of a node's lease; default: 10 s. */
  readonly leasePeriod?: number | undefined;
  /** Recorder of the kubelets' events; without it, none are recorded. */
  readonly events?: EventRecorder | undefined;
}

const LEASE_NAMESPACE = 'kube-node-lease';
const DEFAULT_LEASE_PERIOD = 10_000;
const LEASE_DURATION_SECONDS = 40;

const ignore = (): void => undefined;

/** `resuming`: powered on by an earlier process; its Node shows which stage it had reached. */
type Stage = 'resuming' | 'booting' | 'joined' | 'ready';

interface InstanceState {
  /** Absent for an adopted Node. */
  readonly instance?: BootedInstance;
  poweredOnAt: number;
  stage: Stage;
  joinedAt: number;
  /** Whether the pods that were already bound to its Node have been queued. */
  isAwake?: boolean;
}

/**
 * The kubelets of all instances of the local world. Some time after an instance is powered on, its Node joins, becomes
 * Ready, renews its lease and runs the pods bound to it. A powered-off instance stops reporting.
 */
export class Kubelets {
  private readonly options: KubeletsOptions;
  private readonly instances = new Map<string, InstanceState>();
  private readonly pods: PodRunner;
  private wakeInstance: (name: string) => void = ignore;

  constructor(options: KubeletsOptions) {
    this.options = options;
    this.pods = new PodRunner({
      ...options,
      hostAddress: (node) => {
        const state = this.instances.get(node);
        return state?.stage === 'ready' ? (state.instance?.address ?? instanceAddress(node)) : undefined;
      },
      record: (pod, events, type) => this.record(Kinds.Pod, pod, events, type),
    });
  }

  powerOn(instance: BootedInstance, stage: Stage = 'booting'): void {
    this.begin(instance.name, { instance, poweredOnAt: this.options.clock.now(), stage, joinedAt: 0 });
  }

  /** Resumes an instance that an earlier process had powered on. */
  resume(instance: BootedInstance): void {
    this.powerOn(instance, 'resuming');
  }

  /** Removes an instance: its kubelet stops reporting, and its Node is deleted, as by the cloud's node controller. */
  powerOff(name: string): void {
    this.instances.delete(name);
    this.wakeInstance(name);
  }

  /** Acts as the kubelet of an existing Node: makes it Ready, and runs its pods. */
  adopt(name: string): void {
    const now = this.options.clock.now();
    if (!this.instances.has(name)) this.begin(name, { poweredOnAt: now, stage: 'joined', joinedAt: now });
  }

  private begin(name: string, state: InstanceState): void {
    this.instances.set(name, state);
    this.wakeInstance(name);
  }

  controllers(): readonly Controller[] {
    const { clock, random, log } = this.options;
    const wakes = {
      start: (enqueue: (name: string) => void) => {
        this.wakeInstance = enqueue;
        for (const name of this.instances.keys()) enqueue(name);
        return () => (this.wakeInstance = ignore);
      },
    };
    return [
      reconciler({
        name: 'local.kubelet.instance',
        concurrency: 32,
        clock,
        random,
        log,
        watches: [wakes],
        reconcile: (name) => this.reconcileInstance(name),
      }),
      this.pods.controller(),
    ];
  }

  private async reconcileInstance(name: string): Promise<ReconcileResult | undefined> {
    const { clock, kube, pace } = this.options;
    const state = this.instances.get(name);
    if (state === undefined) {
      await unlessReplaced(ignoreNotFound(kube.delete(Kinds.Node, { name })));
      await unlessReplaced(ignoreNotFound(kube.delete(Kinds.Lease, { name, namespace: LEASE_NAMESPACE })));
      return undefined;
    }
    const now = clock.now();
    if (state.stage === 'resuming') state.stage = await this.stageOf(name);
    if (state.stage === 'booting') {
      const due = state.poweredOnAt + pace.boot;
      if (now < due) return { requeueAfter: due - now };
      if (state.instance) await this.join(state.instance);
      state.stage = 'joined';
      state.joinedAt = now;
    }
    if (state.stage === 'joined') {
      const due = state.joinedAt + pace.ready;
      if (now < due) return { requeueAfter: due - now };
      await this.becomeReady(name);
      state.stage = 'ready';
    }
    await this.renewLease(name, !state.isAwake);
    if (!state.isAwake) {
      state.isAwake = true;
      this.pods.wakeNode(name);
    }
    return { requeueAfter: this.options.leasePeriod ?? DEFAULT_LEASE_PERIOD };
  }

  /** Returns the stage that an instance had reached, according to its Node. */
  private async stageOf(name: string): Promise<Stage> {
    const node = await ignoreNotFound(this.options.kube.get(Kinds.Node, { name }));
    if (node === undefined) return 'booting';
    return isReady(node) ? 'ready' : 'joined';
  }

  private async join(instance: BootedInstance): Promise<void> {
    await createIfAbsent(this.options.kube, Kinds.Node, nodeObject(instance, this.options.clock.now()));
    this.recordOfNode(instance.name, nodeStarted(instance.name));
  }

  private async becomeReady(name: string): Promise<void> {
    const { kube, clock } = this.options;
    const ref = { name };
    const before = (await kube.get(Kinds.Node, ref)).status?.conditions ?? [];
    // Keeps problems that were reported before the node was ready.
    const isKnown = (type: string): boolean => before.some((condition) => condition.type === type);
    const problems = problemConditions(clock.now()).filter(({ type }) => !isKnown(type));
    const body = { status: { conditions: [...readyConditions(clock.now()), ...problems] } };
    const node = await kube.patch(Kinds.Node, ref, { type: 'strategic', body }, { subresource: 'status' });
    // In a real cluster, the node lifecycle controller removes this taint.
    const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
    const taints = (node.spec?.taints ?? []).filter(({ key, effect }) => key !== taint.key || effect !== taint.effect);
    const resourceVersion = node.metadata.resourceVersion;
    await kube.patch(Kinds.Node, ref, { type: 'merge', body: { metadata: { resourceVersion }, spec: { taints } } });
    this.recordOfNode(name, [nodeBecame(name, 'NodeReady')]);
  }

  /** Creates or renews the lease; at first it tries to create, because most instances are new. */
  private async renewLease(name: string, isFirst: boolean): Promise<void> {
    const { kube, clock } = this.options;
    const renewTime = microTimestamp(clock.now());
    const ref = { name, namespace: LEASE_NAMESPACE };
    const spec: Lease['spec'] = { holderIdentity: name, leaseDurationSeconds: LEASE_DURATION_SECONDS, renewTime };
    const create = (): Promise<unknown> => kube.create(Kinds.Lease, { metadata: ref, spec });
    const renew = (): Promise<unknown> =>
      kube.patch(Kinds.Lease, ref, { type: 'merge', body: { spec: { renewTime } } });
    try {
      await (isFirst ? create() : renew());
    } catch (error) {
      if (isFirst ? !isAlreadyExists(error) : !isNotFound(error)) throw error;
      await (isFirst ? renew() : create());
    }
  }

  /** Records events with the Node's name as UID, like real kubelets. */
  private recordOfNode(name: string, events: readonly EventText[]): void {
    this.record(Kinds.Node, { metadata: { name, uid: name } }, events);
  }

  private record(
    kind: ResourceKind<KubeObject>,
    object: KubeObject,
    events: readonly EventText[],
    type: 'Normal' | 'Warning' = 'Normal',
  ): void {
    for (const [reason, message] of events) {
      const dedupeValues = [object.metadata.uid ?? '', reason, message];
      this.options.events?.publish({ kind, object, type, reason, message, dedupeValues });
    }
  }
}
