/** The queue of unscheduled pods. A pod that failed is retried only after a change that could make it schedulable. */
import type { Pod } from '../../api/kinds.ts';
import { isActive } from '../../pods/podPredicates.ts';
import { affinityTerms } from './affinity.ts';
import { isWorthTrying, type NodeChange, type FailureCause } from './nodeChange.ts';
import type { PodInfo } from './podInfo.ts';

/** Whether the placement of another pod can make this one schedulable, by affinity or topology spread. */
function dependsOnPods({ pod }: PodInfo): boolean {
  return affinityTerms(pod, 'podAffinity').length > 0 || (pod.spec?.topologySpreadConstraints ?? []).length > 0;
}

export class PendingPods {
  private readonly waiting = new Map<string, PodInfo>();
  private readonly awake = new Set<string>();
  /** Sequence numbers: the order in which pods were added or last reported as unschedulable. */
  private readonly turns = new Map<string, number>();
  private nextTurn = 0;
  private readonly dependents = new Set<string>();
  private readonly withClaims = new Set<string>();
  /** Why pods were unschedulable at their last attempt. */
  private readonly causes = new Map<string, FailureCause>();

  get hasWork(): boolean {
    return this.awake.size > 0;
  }

  /** Adds or updates a pod; retries it only if a change decides which nodes fit it. */
  set(info: PodInfo): void {
    const before = this.waiting.get(info.key);
    this.waiting.set(info.key, info);
    if (before === undefined) this.turns.set(info.key, this.nextTurn++);
    if (dependsOnPods(info)) this.dependents.add(info.key);
    if (info.claims.length > 0) this.withClaims.add(info.key);
    if (before?.shape !== info.shape || before.pod.metadata.uid !== info.pod.metadata.uid) this.awake.add(info.key);
  }

  delete(key: string): void {
    this.waiting.delete(key);
    this.awake.delete(key);
    this.dependents.delete(key);
    this.withClaims.delete(key);
    this.causes.delete(key);
    this.turns.delete(key);
  }

  /** Records that no node was found; moves the pod to the end of the queue if that is written to its status. */
  failed(key: string, cause: FailureCause, isReported: boolean): void {
    this.causes.set(key, cause);
    if (isReported) this.turns.set(key, this.nextTurn++);
  }

  wake(key: string): void {
    if (this.waiting.has(key)) this.awake.add(key);
  }

  wakeAll(): void {
    for (const key of this.waiting.keys()) this.awake.add(key);
  }

  /** Retries pods after room was released. */
  wakeForRoom(): void {
    for (const [key, cause] of this.causes) if (cause === 'room') this.awake.add(key);
  }

  wakeFor(change: NodeChange): void {
    for (const [key, info] of this.waiting) {
      if (isWorthTrying(info, this.causes.get(key) ?? 'other', change)) this.awake.add(key);
    }
  }

  wakeDependents(): void {
    for (const key of this.dependents) this.awake.add(key);
  }

  wakeWithClaims(): void {
    for (const key of this.withClaims) this.awake.add(key);
  }

  /** Returns the pods to try now, by priority and sequence; they then wait until they are woken again. */
  take(): PodInfo[] {
    const taken = [...this.awake].flatMap((key) => this.waiting.get(key) ?? []);
    this.awake.clear();
    return taken.sort((left, right) => right.priority - left.priority || this.turnOf(left) - this.turnOf(right));
  }

  private turnOf({ key }: PodInfo): number {
    return this.turns.get(key) ?? 0;
  }

  dependsOnPods(info: PodInfo): boolean {
    return this.dependents.has(info.key);
  }
}

export function isPending(pod: Pod): boolean {
  return (
    !pod.spec?.nodeName &&
    isActive(pod) &&
    (pod.spec?.schedulingGates ?? []).length === 0 &&
    (pod.spec?.schedulerName ?? 'default-scheduler') === 'default-scheduler'
  );
}
