/** The scheduler's writes: bindings (after provisioning of volumes), conditions, events, and deletions of victims. */
import type { PodCondition } from 'kubernetes-types/core/v1.js';
import { Kinds, type PersistentVolumeClaim, type Pod } from '../../api/kinds.ts';
import type { Clock } from '../../clock/clock.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';
import type { Kube } from '../../kube/kube.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import { keyOf } from '../../kube/store.ts';
import { timestamp } from '../../units/timestamp.ts';
import { deletePod, disruptionTarget, patchPodStatus, refTo, unlessReplaced } from '../writes.ts';
import { isBound } from './volumes.ts';

export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
/** Minimum milliseconds between writes of messages that differ only in numbers. */
const REWRITE_AFTER = 10_000;
/** Milliseconds after which a pod whose claims are not bound is scheduled again. */
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
  /** Waits for the claims of pods, by pod. */
  private readonly waiting = new Map<string, Waiting>();

  constructor(options: SchedulerWritesOptions) {
    this.options = options;
  }

  /** Binds the pod after its claims; returns false if it cannot be bound any more. */
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
      // Shows other components the node of the pending binding.
      await this.nominate(pod, node);
      for (const claim of unbound) {
        const body = { metadata: { annotations: { [SELECTED_NODE]: node } } };
        await kube.patch(Kinds.PersistentVolumeClaim, refTo(claim), { type: 'merge', body });
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
    try {
      await this.options.kube.bind(refTo(pod), node, { signal });
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return false;
      throw error;
    }
    const { uid = keyOf(pod) } = pod.metadata;
    this.say(pod, 'Normal', 'Scheduled', `Successfully assigned ${keyOf(pod)} to ${node}`, [uid]);
    return true;
  }

  private say(
    object: Pod,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
    dedupeValues: readonly string[],
  ): void {
    this.options.events.publish({ object, kind: Kinds.Pod, type, reason, message, dedupeValues: [...dedupeValues] });
  }

  /** Writes the condition; returns undefined if the pod already has it, otherwise false, as nothing was bound. */
  reportUnschedulable(pod: Pod, message: string, how: 'tried' | 'repeated' = 'tried'): Promise<boolean> | undefined {
    const { clock } = this.options;
    const previous = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    if (previous?.reason === 'Unschedulable' && previous.message === message) return undefined;
    const uid = pod.metadata.uid ?? '';
    // Otherwise each new node would cause thousands of writes that only change the number of nodes.
    const isRecent = clock.now() - (this.reportedAt.get(uid) ?? Number.NEGATIVE_INFINITY) < REWRITE_AFTER;
    if (how === 'repeated' && isRecent && withoutCounts(previous?.message) === withoutCounts(message)) return undefined;
    this.reportedAt.set(uid, clock.now());
    return this.writeUnschedulable(pod, message, previous);
  }

  private async writeUnschedulable(pod: Pod, message: string, previous: PodCondition | undefined): Promise<boolean> {
    const now = timestamp(this.options.clock.now());
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastTransitionTime: previous?.status === 'False' ? previous.lastTransitionTime : now,
    };
    await unlessReplaced(patchPodStatus(this.options.kube, pod, { conditions: [condition] }));
    this.say(pod, 'Warning', 'FailedScheduling', message, [pod.metadata.uid ?? '', message]);
    return false;
  }

  /** Deletes the victims for a pod, and nominates it to their node. Returns false, as nothing was bound. */
  async preempt(pod: Pod, node: string, victims: readonly Pod[]): Promise<boolean> {
    const { kube, clock } = this.options;
    await this.nominate(pod, node);
    for (const victim of victims) {
      const message = 'default-scheduler: preempting to accommodate a higher priority pod';
      const conditions = [disruptionTarget('PreemptionByScheduler', message, clock.now())];
      await unlessReplaced(patchPodStatus(kube, victim, { conditions }));
      const why = `Preempted by pod ${pod.metadata.uid ?? keyOf(pod)} on node ${node}`;
      this.say(victim, 'Normal', 'Preempted', why, [victim.metadata.uid ?? victim.metadata.name]);
      await deletePod(kube, victim);
    }
    return false;
  }

  /** Sets or clears the nominated node of a pod. Returns false, as nothing was bound. */
  async nominate(pod: Pod, node: string | undefined): Promise<boolean> {
    if ((pod.status?.nominatedNodeName ?? '') === (node ?? '')) return false;
    await unlessReplaced(patchPodStatus(this.options.kube, pod, { nominatedNodeName: node ?? null }));
    return false;
  }
}

const withoutCounts = (message = ''): string => message.replaceAll(/\d+/g, '');
