import { Kinds, type Lease, type Pod } from '../../api/kinds.ts';
import { microTimestamp, timestamp } from '../../units/timestamp.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, refOf, watch } from '../../kube/runtime/watch.ts';
import type { Machine, MachinePace } from './machine.ts';
import { nodeObject, readyConditions } from './nodeObject.ts';
import { runningStatus } from './podStatus.ts';

export interface KubeletsOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly pods: Informer<Pod>;
  readonly pace: MachinePace;
}

const LEASE_NAMESPACE = 'kube-node-lease';
const LEASE_PERIOD = 10_000;
const LEASE_DURATION_SECONDS = 40;

const ignore = (): void => undefined;

type Stage = 'booting' | 'joined' | 'ready';

interface MachineState {
  /** Absent for a Node that somebody else has made. */
  readonly machine?: Machine;
  readonly poweredOnAt: number;
  stage: Stage;
  joinedAt: number;
}

/**
 * The kubelets of all machines of the local world. Power a machine on and after a while its Node joins, becomes
 * Ready, keeps its lease and runs the pods that are bound to it; power it off and it falls silent.
 */
export class Kubelets {
  readonly #options: KubeletsOptions;
  readonly #machines = new Map<string, MachineState>();
  /** When each pod was first seen on its machine. */
  readonly #seenAt = new Map<string, number>();
  #wakeMachine: (name: string) => void = ignore;
  #wakePod: (key: string) => void = ignore;

  constructor(options: KubeletsOptions) {
    this.#options = options;
  }

  powerOn(machine: Machine): void {
    const now = this.#options.clock.now();
    this.#machines.set(machine.name, { machine, poweredOnAt: now, stage: 'booting', joinedAt: 0 });
    this.#wakeMachine(machine.name);
  }

  /** The machine is gone: its Node goes quiet, and the cloud's node controller removes the Node object. */
  powerOff(name: string): void {
    this.#machines.delete(name);
    this.#wakeMachine(name);
  }

  /** Plays the kubelet of a Node that is there already: it becomes Ready and runs pods. Does nothing twice. */
  adopt(name: string): void {
    if (this.#machines.has(name)) return;
    const now = this.#options.clock.now();
    this.#machines.set(name, { poweredOnAt: now, stage: 'joined', joinedAt: now });
    this.#wakeMachine(name);
  }

  controllers(): readonly Controller[] {
    const { clock, random, log, pods } = this.#options;
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
              this.#wakeMachine = enqueue;
              for (const name of this.#machines.keys()) enqueue(name);
              return () => (this.#wakeMachine = ignore);
            },
          },
        ],
        reconcile: (name) => this.#reconcileMachine(name),
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
              this.#wakePod = enqueue;
              return () => (this.#wakePod = ignore);
            },
          },
        ],
        reconcile: (key) => this.#reconcilePod(key),
      }),
    ];
  }

  async #reconcileMachine(name: string): Promise<ReconcileResult | undefined> {
    const { clock, kube, pace, pods } = this.#options;
    const state = this.#machines.get(name);
    if (state === undefined) {
      await ignoreMissing(kube.delete(Kinds.Node, { name }));
      await ignoreMissing(kube.delete(Kinds.Lease, { name, namespace: LEASE_NAMESPACE }));
      return undefined;
    }
    const now = clock.now();
    if (state.stage === 'booting') {
      const due = state.poweredOnAt + pace.boot;
      if (now < due) return { requeueAfter: due - now };
      if (state.machine) await this.#join(state.machine);
      state.stage = 'joined';
      state.joinedAt = now;
    }
    if (state.stage === 'joined') {
      const due = state.joinedAt + pace.ready;
      if (now < due) return { requeueAfter: due - now };
      await this.#becomeReady(name);
      state.stage = 'ready';
      for (const pod of pods.store.byIndex('spec.nodeName', name)) this.#wakePod(keyOf(pod));
    }
    await this.#renewLease(name);
    return { requeueAfter: LEASE_PERIOD };
  }

  async #join(machine: Machine): Promise<void> {
    try {
      await this.#options.kube.create(Kinds.Node, nodeObject(machine, this.#options.clock.now()));
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async #becomeReady(name: string): Promise<void> {
    const { kube, clock } = this.#options;
    const ref = { name };
    const status = { conditions: readyConditions(clock.now()) };
    await kube.patch(Kinds.Node, ref, { type: 'strategic', body: { status } }, { subresource: 'status' });
    // The node lifecycle controller of a real cluster takes this taint off; here the kubelet does.
    const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
    const node = await kube.get(Kinds.Node, ref);
    const taints = (node.spec?.taints ?? []).filter(({ key, effect }) => key !== taint.key || effect !== taint.effect);
    const resourceVersion = node.metadata.resourceVersion;
    await kube.patch(Kinds.Node, ref, { type: 'merge', body: { metadata: { resourceVersion }, spec: { taints } } });
  }

  async #renewLease(name: string): Promise<void> {
    const { kube, clock } = this.#options;
    const renewTime = microTimestamp(clock.now());
    const ref = { name, namespace: LEASE_NAMESPACE };
    try {
      await kube.patch(Kinds.Lease, ref, { type: 'merge', body: { spec: { renewTime } } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const spec: Lease['spec'] = { holderIdentity: name, leaseDurationSeconds: LEASE_DURATION_SECONDS, renewTime };
      await kube.create(Kinds.Lease, { metadata: ref, spec });
    }
  }

  async #reconcilePod(key: string): Promise<ReconcileResult | undefined> {
    const { clock, kube, pace, pods } = this.#options;
    const ref = refOf(key);
    const pod = pods.store.get(ref);
    const state = this.#machines.get(pod?.spec?.nodeName ?? '');
    if (pod === undefined || state === undefined || state.stage !== 'ready') {
      if (pod === undefined) this.#seenAt.delete(key);
      return undefined;
    }
    const now = clock.now();
    if (pod.metadata.deletionTimestamp) {
      const grace = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000;
      const asked = Date.parse(pod.metadata.deletionTimestamp) - grace;
      const due = asked + Math.min(grace, pace.podStop);
      if (now < due) return { requeueAfter: due - now };
      this.#seenAt.delete(key);
      const preconditions = pod.metadata.uid === undefined ? {} : { uid: pod.metadata.uid };
      await ignoreMissing(kube.delete(Kinds.Pod, ref, { gracePeriodSeconds: 0, preconditions }));
      return undefined;
    }
    if (pod.status?.phase !== 'Pending') return undefined;
    const seenAt = this.#seenAt.get(key) ?? now;
    this.#seenAt.set(key, seenAt);
    if (now < seenAt + pace.podStart) return { requeueAfter: seenAt + pace.podStart - now };
    const status = runningStatus(pod, timestamp(now), pod.spec?.nodeName ?? '');
    await ignoreMissing(kube.patch(Kinds.Pod, ref, { type: 'strategic', body: { status } }, { subresource: 'status' }));
    return undefined;
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
