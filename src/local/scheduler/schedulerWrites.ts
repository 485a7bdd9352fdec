/**
 * What the scheduler tells the API server. In: decisions. Out: bindings (after the pod's claims have their volumes),
 * conditions, events and the deletion of victims.
 */
import { Kinds, type PersistentVolumeClaim, type Pod } from '../../api/kinds.ts';
import type { Clock } from '../../clock/clock.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';
import type { Kube } from '../../kube/kube.ts';
import { ignoreNotFound, isConflict, isNotFound } from '../../kube/errors.ts';
import { keyOf } from '../../kube/store.ts';
import { timestamp } from '../../units/timestamp.ts';
import { isBound } from './volumes.ts';

export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
/** A pod whose message has just been written waits this long for the next wording. */
const REWRITE_AFTER = 10_000;
/** Claims that have no volume by then make the pod look for another node. */
const BIND_TIMEOUT = 600_000;

interface SchedulerWritesOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly events: EventRecorder;
}

interface Waiting {
  readonly open: Set<string>;
  readonly done: (ready: boolean) => void;
}

export class SchedulerWrites {
  private readonly options: SchedulerWritesOptions;
  private readonly reportedAt = new Map<string, number>();
  /** Pods that wait for their claims, by pod. */
  private readonly waiting = new Map<string, Waiting>();

  constructor(options: SchedulerWritesOptions) {
    this.options = options;
  }

  /** Gives the pod its node, after its claims have their volumes there; false when it cannot have it any more. */
  async bind(pod: Pod, node: string, unbound: readonly PersistentVolumeClaim[], signal: AbortSignal): Promise<boolean> {
    if (unbound.length > 0 && !(await this.provision(pod, node, unbound))) return false;
    return this.bindNow(pod, node, signal);
  }

  private async provision(pod: Pod, node: string, unbound: readonly PersistentVolumeClaim[]): Promise<boolean> {
    const { kube, clock } = this.options;
    const key = keyOf(pod);
    const open = new Set(unbound.map(keyOf));
    const ready = new Promise<boolean>((resolve) => this.waiting.set(key, { open, done: resolve }));
    const cancel = clock.after(BIND_TIMEOUT, () => this.settle(key, false));
    try {
      for (const { metadata } of unbound) {
        const ref = { name: metadata.name, namespace: metadata.namespace };
        const body = { metadata: { annotations: { [SELECTED_NODE]: node } } };
        await kube.patch(Kinds.PersistentVolumeClaim, ref, { type: 'merge', body });
      }
      return await ready;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    } finally {
      cancel();
      this.waiting.delete(key);
    }
  }

  onClaim(claim: PersistentVolumeClaim): void {
    if (!isBound(claim)) return;
    for (const [key, waiting] of this.waiting) {
      if (waiting.open.delete(keyOf(claim)) && waiting.open.size === 0) this.settle(key, true);
    }
  }

  forget(pod: Pod): void {
    this.reportedAt.delete(pod.metadata.uid ?? '');
    this.settle(keyOf(pod), false);
  }

  private settle(key: string, ready: boolean): void {
    this.waiting.get(key)?.done(ready);
    this.waiting.delete(key);
  }

  private async bindNow(pod: Pod, node: string, signal: AbortSignal): Promise<boolean> {
    const { kube, events } = this.options;
    try {
      await kube.bind({ name: pod.metadata.name, namespace: pod.metadata.namespace }, node, { signal });
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return false;
      throw error;
    }
    events.publish({
      object: pod,
      kind: Kinds.Pod,
      type: 'Normal',
      reason: 'Scheduled',
      message: `Successfully assigned ${keyOf(pod)} to ${node}`,
      dedupeValues: [pod.metadata.uid ?? keyOf(pod)],
    });
    return true;
  }

  /** Always false: nothing was bound. */
  async reportUnschedulable(pod: Pod, message: string, how: 'tried' | 'repeated' = 'tried'): Promise<boolean> {
    const { clock, events } = this.options;
    const previous = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    if (previous?.reason === 'Unschedulable' && previous.message === message) return false;
    const uid = pod.metadata.uid ?? '';
    // Thousands of pods alike would be rewritten with each node that comes, only to count it.
    const isRecent = clock.now() - (this.reportedAt.get(uid) ?? Number.NEGATIVE_INFINITY) < REWRITE_AFTER;
    if (how === 'repeated' && isRecent) return false;
    this.reportedAt.set(uid, clock.now());
    const now = timestamp(clock.now());
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastTransitionTime: previous?.status === 'False' ? previous.lastTransitionTime : now,
    };
    await this.writeStatus(pod, { conditions: [condition] });
    events.publish({
      object: pod,
      kind: Kinds.Pod,
      type: 'Warning',
      reason: 'FailedScheduling',
      message,
      dedupeValues: [uid, message],
    });
    return false;
  }

  /** Tells the victims to leave and promises their room. Always false: nothing was bound yet. */
  async preempt(pod: Pod, node: string, victims: readonly Pod[]): Promise<boolean> {
    const { kube, clock, events } = this.options;
    await this.writeStatus(pod, { nominatedNodeName: node });
    for (const victim of victims) {
      const { name, namespace, uid } = victim.metadata;
      const condition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'PreemptionByScheduler',
        message: 'default-scheduler: preempting to accommodate a higher priority pod',
        lastTransitionTime: timestamp(clock.now()),
      };
      await this.writeStatus(victim, { conditions: [condition] });
      events.publish({
        object: victim,
        kind: Kinds.Pod,
        type: 'Normal',
        reason: 'Preempted',
        message: `Preempted by pod ${pod.metadata.uid ?? keyOf(pod)} on node ${node}`,
        dedupeValues: [uid ?? name],
      });
      await ignoreNotFound(
        kube.delete(Kinds.Pod, { name, namespace }, { preconditions: uid === undefined ? {} : { uid } }),
      );
    }
    return false;
  }

  private async writeStatus(pod: Pod, status: object): Promise<void> {
    const { name, namespace } = pod.metadata;
    await ignoreNotFound(
      this.options.kube.patch(
        Kinds.Pod,
        { name, namespace },
        { type: 'strategic', body: { status } },
        { subresource: 'status' },
      ),
    );
  }
}
