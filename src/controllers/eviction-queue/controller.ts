import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { Kinds, type Pod } from '../../api/kinds.ts';
import { disruptionShield } from '../../pods/doNotDisrupt.ts';
import { forcedFrom, isWaitingEviction, mustForce } from '../../cluster/drain.ts';
import { isActive, isDaemonPod } from '../../pods/podPredicates.ts';
import { isConflict, isNotFound, isTooManyRequests, KubeError } from '../../kube/errors.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { RecentMap } from '../../kube/recentMap.ts';
import { reconciler, type ReconcileContext } from '../../kube/runtime/reconciler.ts';
import { keyOf, refOf } from '../../kube/runtime/watch.ts';
import type { World } from '../world/world.ts';
import * as publish from './events.ts';
import { EvictionOrder } from './evictionOrder.ts';
import { evictionMetrics, type EvictionMetrics } from './metrics.ts';

interface Entry {
  readonly uid: string;
  /** When the node must be empty, in milliseconds; undefined without a deadline. */
  deadline: number | undefined;
  /** Wait after the next refusal. */
  wait: number;
}

/** The API server's default grace period. */
const DEFAULT_GRACE_SECONDS = 30;
const FIRST_WAIT = 100;
const LONGEST_WAIT = 10_000;
/** Milliseconds for the watch to show the termination of an evicted pod; then it is evicted again. */
const EVICTION_LAG = 5_000;
const MAX_EVICTED = 10_000;
/** Few at a time: with more, evictions would not be carried out in the requested order. */
const CONCURRENCY = 10;
const FORCEFUL = 'Forceful Termination';

/**
 * Evicts pods, each with its own backoff: a refusal by a PodDisruptionBudget is retried with growing waits. When a
 * node's deadline leaves no time for that, the pod is deleted.
 */
export class EvictionQueue {
  private readonly world: World;
  private readonly metrics: EvictionMetrics;
  private readonly entries = new Map<string, Entry>();
  /** When pods were evicted, by UID. */
  private readonly evictedAt = new RecentMap<string, number>(MAX_EVICTED);
  private readonly order: EvictionOrder;
  private enqueue: ((key: string) => void) | undefined;

  constructor(world: World) {
    this.world = world;
    this.metrics = evictionMetrics(world.metrics);
    this.order = new EvictionOrder(
      world.clock,
      (key) => this.enqueue?.(key),
      () => this.areOthersComing(),
    );
  }

  /** A pod already in the queue keeps the earlier deadline. */
  add(pod: Pod, deadline?: number): void {
    const key = keyOf(pod);
    const uid = pod.metadata.uid ?? '';
    const known = this.entries.get(key);
    const now = this.world.clock.now();
    // An evicted pod is not evicted again until the watch had time to show that it is terminating.
    if (deadline === undefined && now - (this.evictedAt.get(uid) ?? Number.NEGATIVE_INFINITY) < EVICTION_LAG) return;
    if (known?.uid !== uid) this.entries.set(key, { uid, deadline, wait: FIRST_WAIT });
    else if (deadline === undefined || deadline >= (known.deadline ?? Number.POSITIVE_INFINITY)) return;
    else known.deadline = deadline;
    if (this.enqueue === undefined) return;
    const isForced = deadline !== undefined && mustForce(pod, deadline, now);
    if (isForced || !this.areSeveralLeaving()) this.enqueue(key);
    else this.order.add(pod);
  }

  controller(): Controller {
    return reconciler({
      ...this.world,
      name: 'eviction-queue',
      concurrency: CONCURRENCY,
      backoff: { base: 100, max: 10_000 },
      watches: [
        {
          start: (enqueue) => {
            this.enqueue = enqueue;
            for (const key of this.entries.keys()) enqueue(key);
            return () => {
              this.enqueue = undefined;
              this.order.end();
            };
          },
        },
      ],
      reconcile: (key, context) => this.reconcile(key, context),
    });
  }

  private async reconcile(key: string, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { cluster, clock } = this.world;
    const entry = this.entries.get(key);
    const pod = cluster.pod(refOf(key));
    if (entry && pod?.metadata.uid === entry.uid && !(await this.isEvictedOrDeleted(pod, entry.deadline, signal))) {
      const refusalWait = entry.wait;
      entry.wait = Math.min(LONGEST_WAIT, 2 * entry.wait);
      // If the pod must be deleted before the next retry is due, retry at that time.
      const patience = (forcedFrom(pod, entry.deadline) ?? Number.POSITIVE_INFINITY) - clock.now();
      return { requeueAfter: Math.max(1, Math.min(refusalWait, patience)) };
    }
    // A new pod of the same name may have been added since.
    if (this.entries.get(key) === entry) this.entries.delete(key);
    return undefined;
  }

  private areSeveralLeaving(): boolean {
    let leaving = 0;
    for (const { deleting } of this.world.cluster.snapshot().nodes) if (deleting) leaving += 1;
    return leaving > 1;
  }

  /** Whether the claim of a node is being deleted and none of its pods has been added yet. */
  private areOthersComing(): boolean {
    const { cluster, clock } = this.world;
    const now = clock.now();
    const isAdded = (pod: Pod): boolean =>
      this.entries.get(keyOf(pod))?.uid === pod.metadata.uid ||
      this.evictedAt.get(pod.metadata.uid ?? '') !== undefined;
    return cluster.snapshot().nodes.some(({ claim, node, pods }) => {
      if (claim?.metadata.deletionTimestamp === undefined || node === undefined) return false;
      const waiting = pods.filter((pod) => isActive(pod) && !isDaemonPod(pod) && isWaitingEviction(pod, now));
      return waiting.length > 0 && !pods.some(isAdded);
    });
  }

  /** False if the eviction must be retried. */
  private async isEvictedOrDeleted(pod: Pod, deadline: number | undefined, signal: AbortSignal): Promise<boolean> {
    const now = this.world.clock.now();
    if (deadline !== undefined && mustForce(pod, deadline, now)) {
      await this.forceDelete(pod, deadline, signal);
      return true;
    }
    if (!isActive(pod)) return true;
    const shield = disruptionShield(pod, now);
    publish.disruptionShield(this.world.events, pod, shield);
    if (shield.state === 'forever' || shield.state === 'until') return false;
    return this.evict(pod, signal);
  }

  /** True when nothing is left to do. */
  private async evict(pod: Pod, signal: AbortSignal): Promise<boolean> {
    const { kube, events, cluster } = this.world;
    const ref = { name: pod.metadata.name, namespace: pod.metadata.namespace };
    const preconditions = pod.metadata.uid === undefined ? {} : { uid: pod.metadata.uid };
    try {
      await kube.evict(ref, { preconditions, signal });
    } catch (error) {
      if (error instanceof KubeError) this.metrics.requests.inc({ code: String(error.code) });
      if (isNotFound(error) || isConflict(error)) return true;
      if (!isTooManyRequests(error) && !isSeveralBudgets(error)) throw error;
      const node = cluster.node(pod.spec?.nodeName ?? '');
      const because = isTooManyRequests(error) ? 'budget' : 'several-budgets';
      publish.failedDraining(events, pod, node, { because, problem: error.message });
      return false;
    }
    this.metrics.requests.inc({ code: '200' });
    this.evictedAt.set(pod.metadata.uid ?? '', this.world.clock.now());
    const reason = this.reasonFor(pod);
    this.metrics.drained.inc({ reason });
    publish.evicted(events, pod, reason);
    return true;
  }

  private async forceDelete(pod: Pod, deadline: number, signal: AbortSignal): Promise<void> {
    const { kube, clock, events } = this.world;
    const gracePeriodSeconds = Math.max(1, Math.floor((deadline - clock.now()) / 1000));
    const preconditions = pod.metadata.uid === undefined ? {} : { uid: pod.metadata.uid };
    const ref = { name: pod.metadata.name, namespace: pod.metadata.namespace };
    try {
      await kube.delete(Kinds.Pod, ref, { gracePeriodSeconds, preconditions, signal });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
      return;
    }
    this.metrics.drained.inc({ reason: this.reasonFor(pod) });
    const asked = pod.spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
    publish.disrupted(events, pod, { deadline, granted: gracePeriodSeconds, asked });
  }

  private reasonFor(pod: Pod): string {
    const { cluster } = this.world;
    const node = cluster.node(pod.spec?.nodeName ?? '');
    const claim = node && cluster.claimByProviderID(node.spec?.providerID);
    if (!claim) return '';
    const chosen = claim.status?.conditions?.find(({ type }) => type === NodeClaimConditions.disruptionReason);
    return chosen?.status === 'True' ? (chosen.reason ?? FORCEFUL) : FORCEFUL;
  }
}

/** The eviction API does not support several budgets for one pod; this can only be recognized by its error message. */
function isSeveralBudgets(error: unknown): error is KubeError {
  return error instanceof KubeError && error.message.includes('more than one PodDisruptionBudget');
}
