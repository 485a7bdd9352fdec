import { Kinds, type Lease } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';
import { ignoreNotFound, isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { microTimestamp } from '../../units/timestamp.ts';
import { createIfAbsent, unlessReplaced } from '../writes.ts';
import { nodeBecame, nodeStarted, type EventText } from './kubeletEvents.ts';
import type { Machine } from './machine.ts';
import { machineAddress, nodeObject, problemConditions, readyConditions } from './nodeObject.ts';
import { PodRunner, type KubeletOptions } from './podRunner.ts';

export interface KubeletsOptions extends KubeletOptions {
  /** Milliseconds between renewals of a machine's lease; 10 s when absent. */
  readonly leasePeriod?: number | undefined;
  /** Where kubelets record events; nowhere when absent. */
  readonly events?: EventRecorder | undefined;
}

const LEASE_NAMESPACE = 'kube-node-lease';
const DEFAULT_LEASE_PERIOD = 10_000;
const LEASE_DURATION_SECONDS = 40;

const ignore = (): void => undefined;

/** `resuming`: it was on before this process started; its Node tells how far it had come. */
type Stage = 'resuming' | 'booting' | 'joined' | 'ready';

interface MachineState {
  /** Absent for a Node that was made by others. */
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
  private readonly pods: PodRunner;
  private wakeMachine: (name: string) => void = ignore;

  constructor(options: KubeletsOptions) {
    this.options = options;
    this.pods = new PodRunner({
      ...options,
      hostAddress: (node) => {
        const state = this.machines.get(node);
        return state?.stage === 'ready' ? (state.machine?.address ?? machineAddress(node)) : undefined;
      },
      record: (pod, events, type) => this.record(Kinds.Pod, pod, events, type),
    });
  }

  powerOn(machine: Machine, stage: Stage = 'booting'): void {
    const now = this.options.clock.now();
    this.machines.set(machine.name, { machine, poweredOnAt: now, stage, joinedAt: 0 });
    this.wakeMachine(machine.name);
  }

  /** Continues a machine that an earlier process had powered on. */
  resume(machine: Machine): void {
    this.powerOn(machine, 'resuming');
  }

  /** The machine is gone: its kubelet is silent, and the cloud's node controller removes the Node. */
  powerOff(name: string): void {
    this.machines.delete(name);
    this.wakeMachine(name);
  }

  /** Plays the kubelet of a Node that is there already: it becomes Ready and runs pods. */
  adopt(name: string): void {
    if (this.machines.has(name)) return;
    const now = this.options.clock.now();
    this.machines.set(name, { poweredOnAt: now, stage: 'joined', joinedAt: now });
    this.wakeMachine(name);
  }

  controllers(): readonly Controller[] {
    const { clock, random, log } = this.options;
    const wakes = {
      start: (enqueue: (name: string) => void) => {
        this.wakeMachine = enqueue;
        for (const name of this.machines.keys()) enqueue(name);
        return () => (this.wakeMachine = ignore);
      },
    };
    return [
      reconciler({
        name: 'local.kubelet.machine',
        concurrency: 32,
        clock,
        random,
        log,
        watches: [wakes],
        reconcile: (name) => this.reconcileMachine(name),
      }),
      this.pods.controller(),
    ];
  }

  private async reconcileMachine(name: string): Promise<ReconcileResult | undefined> {
    const { clock, kube, pace } = this.options;
    const state = this.machines.get(name);
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
      this.pods.wakeNode(name);
    }
    return { requeueAfter: this.options.leasePeriod ?? DEFAULT_LEASE_PERIOD };
  }

  /** How far a machine had come, according to its Node. */
  private async stageOf(name: string): Promise<Stage> {
    const node = await ignoreNotFound(this.options.kube.get(Kinds.Node, { name }));
    if (node === undefined) return 'booting';
    const isReady = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
    return isReady ? 'ready' : 'joined';
  }

  private async join(machine: Machine): Promise<void> {
    await createIfAbsent(this.options.kube, Kinds.Node, nodeObject(machine, this.options.clock.now()));
    this.recordOfNode(machine.name, nodeStarted(machine.name));
  }

  private async becomeReady(name: string): Promise<void> {
    const { kube, clock } = this.options;
    const ref = { name };
    const before = (await kube.get(Kinds.Node, ref)).status?.conditions ?? [];
    // A problem that was found before the node was ready is still one.
    const isKnown = (type: string): boolean => before.some((condition) => condition.type === type);
    const problems = problemConditions(clock.now()).filter(({ type }) => !isKnown(type));
    const status = { conditions: [...readyConditions(clock.now()), ...problems] };
    const body = { status };
    const node = await kube.patch(Kinds.Node, ref, { type: 'strategic', body }, { subresource: 'status' });
    // The node lifecycle controller of a real cluster takes this taint off; here the kubelet does.
    const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
    const taints = (node.spec?.taints ?? []).filter(({ key, effect }) => key !== taint.key || effect !== taint.effect);
    const resourceVersion = node.metadata.resourceVersion;
    await kube.patch(Kinds.Node, ref, { type: 'merge', body: { metadata: { resourceVersion }, spec: { taints } } });
    this.recordOfNode(name, [nodeBecame(name, 'NodeReady')]);
  }

  /** Most machines that renew for the first time are new and have no lease yet. */
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

  /** A kubelet refers to its Node by name where others use the UID. */
  private recordOfNode(name: string, events: readonly EventText[]): void {
    this.record(Kinds.Node, { metadata: { name, uid: name } }, events);
  }

  private record(
    kind: ResourceKind<KubeObject>,
    object: KubeObject,
    events: readonly EventText[],
    type: 'Normal' | 'Warning' = 'Normal',
  ): void {
    const dedupe = object.metadata.uid ?? '';
    this.options.events?.publish(
      ...events.map(([reason, message]) => ({
        kind,
        object,
        type,
        reason,
        message,
        dedupeValues: [dedupe, reason, message],
      })),
    );
  }
}
