import { Kinds, type Lease, type Pod } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import { microTimestamp, timestamp } from '../../units/timestamp.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, refOf, watch } from '../../kube/runtime/watch.ts';
import type { Machine, MachinePace } from './machine.ts';
import { machineAddress, nodeObject, problemConditions, readyConditions } from './nodeObject.ts';
import { killing, nodeBecame, nodeStarted, started, type Saying } from './kubeletEvents.ts';
import {
  creatingStatus,
  endedStatus,
  podAddress,
  preStopDelay,
  readinessDelay,
  readyStatus,
  runningStatus,
  stopDelay,
} from './podStatus.ts';

export interface KubeletsOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly pods: Informer<Pod>;
  readonly pace: MachinePace;
  /** Milliseconds between renewals of a machine's lease; 10 s when absent. */
  readonly leasePeriod?: number | undefined;
  /** Where kubelets say what they do; nowhere when absent. */
  readonly events?: EventRecorder | undefined;
  /** Pods that have an address already. */
  readonly podsAt?: (address: string) => readonly Pod[];
  /** Whether all disks of a pod are on its machine; absent where nobody attaches any. */
  readonly volumesReady?: (pod: Pod) => boolean;
}

const LEASE_NAMESPACE = 'kube-node-lease';
const DEFAULT_LEASE_PERIOD = 10_000;
const LEASE_DURATION_SECONDS = 40;
/** How often a kubelet looks whether a disk has come. */
const VOLUME_WAIT = 1_000;

const ignore = (): void => undefined;

/** `resuming`: it was on before this process, and its Node tells how far it had come. */
type Stage = 'resuming' | 'booting' | 'joined' | 'ready';

interface MachineState {
  /** Absent for a Node that somebody else has made. */
  readonly machine?: Machine;
  poweredOnAt: number;
  stage: Stage;
  joinedAt: number;
  /** Whether it has looked at the pods that were bound to it before. */
  isAwake?: boolean;
}

/**
 * The kubelets of all machines of the local world. Power a machine on and after a while its Node joins, becomes
 * Ready, keeps its lease and runs the pods that are bound to it; power it off and it falls silent.
 */
export class Kubelets {
  private readonly options: KubeletsOptions;
  private readonly machines = new Map<string, MachineState>();
  /** When each pod was first seen on its machine. */
  private readonly seenAt = new Map<string, number>();
  /** Pods, by their uid, whose end was announced. */
  private readonly ending = new Map<string, string | undefined>();
  private wakeMachine: (name: string) => void = ignore;
  private wakePod: (key: string) => void = ignore;

  constructor(options: KubeletsOptions) {
    this.options = options;
  }

  powerOn(machine: Machine, stage: Stage = 'booting'): void {
    const now = this.options.clock.now();
    this.machines.set(machine.name, { machine, poweredOnAt: now, stage, joinedAt: 0 });
    this.wakeMachine(machine.name);
  }

  /** Goes on with a machine that an earlier process had powered on. */
  resume(machine: Machine): void {
    this.powerOn(machine, 'resuming');
  }

  /** The machine is gone: its Node goes quiet, and the cloud's node controller removes the Node object. */
  powerOff(name: string): void {
    this.machines.delete(name);
    this.wakeMachine(name);
  }

  /** Plays the kubelet of a Node that is there already: it becomes Ready and runs pods. Does nothing twice. */
  adopt(name: string): void {
    if (this.machines.has(name)) return;
    const now = this.options.clock.now();
    this.machines.set(name, { poweredOnAt: now, stage: 'joined', joinedAt: now });
    this.wakeMachine(name);
  }

  controllers(): readonly Controller[] {
    const { clock, random, log, pods } = this.options;
    return [
      reconciler({
        name: 'local.kubelet.machine',
        concurrency: 32,
        clock,
        random,
        log,
        watches: [
          {
            start: (enqueue) => {
              this.wakeMachine = enqueue;
              for (const name of this.machines.keys()) enqueue(name);
              return () => (this.wakeMachine = ignore);
            },
          },
        ],
        reconcile: (name) => this.reconcileMachine(name),
      }),
      reconciler({
        name: 'local.kubelet.pod',
        concurrency: 64,
        clock,
        random,
        log,
        watches: [
          watch(pods, ({ object }) => (object.spec?.nodeName ? [keyOf(object)] : [])),
          {
            start: (enqueue) => {
              this.wakePod = enqueue;
              return () => (this.wakePod = ignore);
            },
          },
        ],
        reconcile: (key) => this.reconcilePod(key),
      }),
    ];
  }

  private async reconcileMachine(name: string): Promise<ReconcileResult | undefined> {
    const { clock, kube, pace, pods } = this.options;
    const state = this.machines.get(name);
    if (state === undefined) {
      await ignoreMissing(kube.delete(Kinds.Node, { name }));
      await ignoreMissing(kube.delete(Kinds.Lease, { name, namespace: LEASE_NAMESPACE }));
      return undefined;
    }
    const now = clock.now();
    if (state.stage === 'resuming') state.stage = await this.stageOf(name);
    if (state.stage === 'booting') {
      const due = state.poweredOnAt + pace.boot;
      if (now < due) return { requeueAfter: due - now };
      if (state.machine) await this.join(state.machine);
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
      for (const pod of pods.store.byIndex('spec.nodeName', name)) this.wakePod(keyOf(pod));
    }
    return { requeueAfter: this.options.leasePeriod ?? DEFAULT_LEASE_PERIOD };
  }

  /** How far a machine had come, by what its Node says. */
  private async stageOf(name: string): Promise<Stage> {
    try {
      const { status } = await this.options.kube.get(Kinds.Node, { name });
      const isReady = status?.conditions?.some(
        (condition) => condition.type === 'Ready' && condition.status === 'True',
      );
      return isReady ? 'ready' : 'joined';
    } catch (error) {
      if (isNotFound(error)) return 'booting';
      throw error;
    }
  }

  private async join(machine: Machine): Promise<void> {
    try {
      await this.options.kube.create(Kinds.Node, nodeObject(machine, this.options.clock.now()));
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    this.sayOfNode(machine.name, nodeStarted(machine.name));
  }

  private async becomeReady(name: string): Promise<void> {
    const { kube, clock } = this.options;
    const ref = { name };
    const status = { conditions: [...readyConditions(clock.now()), ...problemConditions(clock.now())] };
    await kube.patch(Kinds.Node, ref, { type: 'strategic', body: { status } }, { subresource: 'status' });
    // The node lifecycle controller of a real cluster takes this taint off; here the kubelet does.
    const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
    const node = await kube.get(Kinds.Node, ref);
    const taints = (node.spec?.taints ?? []).filter(({ key, effect }) => key !== taint.key || effect !== taint.effect);
    const resourceVersion = node.metadata.resourceVersion;
    await kube.patch(Kinds.Node, ref, { type: 'merge', body: { metadata: { resourceVersion }, spec: { taints } } });
    this.sayOfNode(name, [nodeBecame(name, 'NodeReady')]);
  }

  /** Most machines that renew for the first time have just come, and have no lease yet. */
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

  private async reconcilePod(key: string): Promise<ReconcileResult | undefined> {
    const { clock, pace, pods } = this.options;
    const ref = refOf(key);
    const pod = pods.store.get(ref);
    const state = this.machines.get(pod?.spec?.nodeName ?? '');
    if (pod === undefined || state === undefined || state.stage !== 'ready') {
      if (pod === undefined) {
        this.seenAt.delete(key);
        this.ending.delete(key);
      }
      return undefined;
    }
    const now = clock.now();
    if (pod.metadata.deletionTimestamp) return this.endPod(key, pod, now);
    const { phase, containerStatuses = [] } = pod.status ?? {};
    if (phase === 'Running') return this.readyPod(pod, now);
    if (phase !== 'Pending') return undefined;
    const seenAt = this.seenAt.get(key) ?? now;
    this.seenAt.set(key, seenAt);
    const hostIP = state.machine?.address ?? machineAddress(pod.spec?.nodeName ?? '');
    const due = seenAt + pace.podStart * (1 + (pod.spec?.initContainers ?? []).length);
    const wait = now < due ? due - now : this.options.volumesReady?.(pod) === false ? VOLUME_WAIT : 0;
    if (wait > 0) {
      // A pod that runs at once has nothing to tell of before.
      if (containerStatuses.length === 0) await this.report(pod, creatingStatus(pod, timestamp(now), { hostIP }));
      return { requeueAfter: wait };
    }
    const podIP = pod.spec?.hostNetwork === true ? hostIP : this.addressOf(pod);
    await this.report(pod, runningStatus(pod, timestamp(now), { hostIP, podIP }, readinessDelay(pod) === 0));
    this.say(pod, started(pod));
    return undefined;
  }

  /** Waits for the probes of a pod whose containers run. */
  private async readyPod(pod: Pod, now: number): Promise<ReconcileResult | undefined> {
    const statuses = pod.status?.containerStatuses ?? [];
    const delay = readinessDelay(pod);
    const isWaiting = statuses.some(({ ready, state }) => !ready && state?.running !== undefined);
    if (
      delay === 0 ||
      !Number.isFinite(delay) ||
      !isWaiting ||
      statuses.some(({ state }) => state?.running === undefined)
    )
      return undefined;
    const due = Math.max(...statuses.map(({ state }) => Date.parse(state?.running?.startedAt ?? ''))) + delay;
    if (now < due) return { requeueAfter: due - now };
    await this.report(pod, readyStatus(pod, timestamp(now)));
    return undefined;
  }

  /** Lets the containers of a deleted pod end, within its grace period. */
  private async endPod(key: string, pod: Pod, now: number): Promise<ReconcileResult | undefined> {
    const { kube, pace } = this.options;
    const grace = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000;
    const asked = Date.parse(pod.metadata.deletionTimestamp ?? '') - grace;
    const due = asked + Math.min(grace, preStopDelay(pod) + stopDelay(pod, pace.podStop));
    const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    if (!isOver && now < due) {
      if (this.ending.get(key) !== pod.metadata.uid) this.say(pod, killing(pod));
      this.ending.set(key, pod.metadata.uid);
      return { requeueAfter: due - now };
    }
    this.seenAt.delete(key);
    this.ending.delete(key);
    // Whoever holds a finalizer on the pod wants to know how it ended.
    if (!isOver && (pod.metadata.finalizers ?? []).length > 0) await this.report(pod, endedStatus(pod, timestamp(now)));
    const preconditions = pod.metadata.uid === undefined ? {} : { uid: pod.metadata.uid };
    await ignoreMissing(kube.delete(Kinds.Pod, refOf(key), { gracePeriodSeconds: 0, preconditions }));
    return undefined;
  }

  private async report(pod: Pod, status: Pod['status']): Promise<void> {
    const patch = { type: 'strategic' as const, body: { status } };
    await ignoreMissing(this.options.kube.patch(Kinds.Pod, refOf(keyOf(pod)), patch, { subresource: 'status' }));
  }

  private addressOf(pod: Pod): string {
    const { uid, name } = pod.metadata;
    const isTaken = (address: string): boolean =>
      this.options.podsAt?.(address).some(({ metadata }) => metadata.uid !== uid) ?? false;
    return podAddress(uid ?? name, isTaken);
  }

  private say(pod: Pod, events: readonly Saying[]): void {
    this.publish(Kinds.Pod, pod, events);
  }

  /** A kubelet calls its Node by name where others use the UID. */
  private sayOfNode(name: string, events: readonly Saying[]): void {
    this.publish(Kinds.Node, { metadata: { name, uid: name } }, events);
  }

  private publish(kind: ResourceKind<KubeObject>, object: KubeObject, events: readonly Saying[]): void {
    this.options.events?.publish(
      ...events.map(([reason, message]) => ({
        kind,
        object,
        type: 'Normal' as const,
        reason,
        message,
        dedupeValues: [object.metadata.uid ?? '', reason, message],
      })),
    );
  }
}

/** The object went away first, or another one has taken its name: nothing left to do. */
async function ignoreMissing(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
