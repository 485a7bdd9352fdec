/** Workloads whose pods are replaced by others, as many at a time as their strategy allows. */
import { Kinds, type Pod } from '../api/kinds.ts';
import { podKey } from '../pods/podKey.ts';
import type { RolloutBounds } from '../pods/rolloutBounds.ts';
import { kindKey, objectsOf, type ClusterObjects } from './clusterObjects.ts';

export interface Rollout {
  readonly replicas: number;
  readonly bounds: RolloutBounds;
  /** Old pods, in deletion order. */
  readonly old: readonly Pod[];
  /** Number of pods that needed no replacement. */
  readonly ready: number;
  /** Keys of the new pods created so far. */
  readonly made: readonly string[];
  /** New pods still to be created. */
  readonly fresh: readonly Pod[];
}

interface Rolling {
  readonly objects: ClusterObjects;
  /** Unfinished rollouts. */
  readonly rollouts: readonly Rollout[];
}

/** Derives the initial cluster from the final one: old pods run, and no new pod exists. */
export function beforeRollouts(objects: ClusterObjects, rollouts: readonly Rollout[]): ClusterObjects {
  const fresh = new Set(rollouts.flatMap((rollout) => rollout.fresh.map(podKey)));
  const others = objectsOf(objects, Kinds.Pod).filter((pod) => !fresh.has(podKey(pod)));
  return withPods(objects, [...others, ...rollouts.flatMap(({ old }) => old)]);
}

/** Creates and deletes pods until the rollouts must wait for new pods to run; pods on booting nodes do not run. */
export function rollOn(objects: ClusterObjects, rollouts: readonly Rollout[], booting: ReadonlySet<string>): Rolling {
  const pods = new Map(objectsOf(objects, Kinds.Pod).map((pod) => [podKey(pod), pod]));
  const left = rollouts.map((rollout) => rollOne(rollout, pods, booting));
  return {
    objects: withPods(objects, [...pods.values()]),
    rollouts: left.filter(({ old, fresh }) => old.length + fresh.length > 0),
  };
}

/** As if all old pods were deleted and all new ones created at once. */
export function finishRollouts(objects: ClusterObjects, rollouts: readonly Rollout[]): ClusterObjects {
  const old = new Set(rollouts.flatMap((rollout) => rollout.old.map(podKey)));
  const others = objectsOf(objects, Kinds.Pod).filter((pod) => !old.has(podKey(pod)));
  return withPods(objects, [...others, ...rollouts.flatMap(({ fresh }) => fresh)]);
}

const withPods = (objects: ClusterObjects, pods: readonly Pod[]): ClusterObjects => ({
  ...objects,
  kinds: new Map([...objects.kinds, [kindKey(Kinds.Pod), pods]]),
});

const isPlaced = (pod: Pod | undefined): boolean => (pod?.spec?.nodeName ?? '') !== '';

function rollOne(start: Rollout, pods: Map<string, Pod>, booting: ReadonlySet<string>): Rollout {
  const isRunning = (pod: Pod | undefined): boolean => isPlaced(pod) && !booting.has(pod?.spec?.nodeName ?? '');
  let rollout = start;
  for (;;) {
    const { replicas, bounds, old, ready, made, fresh } = rollout;
    const running = ready + made.filter((key) => isRunning(pods.get(key))).length;
    const room = Math.max(0, replicas + bounds.maxSurge - old.length - ready - made.length);
    const come = fresh.slice(0, room);
    const end = old.slice(0, endingNow(rollout, running));
    if (come.length + end.length === 0) return rollout;
    for (const pod of come) pods.set(podKey(pod), pod);
    for (const pod of end) pods.delete(podKey(pod));
    rollout = {
      ...rollout,
      old: old.slice(end.length),
      made: [...made, ...come.map(podKey)],
      fresh: fresh.slice(come.length),
    };
  }
}

/** First old pods that do not run; then running ones above the minimum that must run. */
function endingNow({ replicas, bounds, old }: Rollout, running: number): number {
  const least = replicas - bounds.maxUnavailable;
  const placed = old.filter(isPlaced).length;
  const most = Math.max(0, old.length + running - least);
  const idle = Math.min(old.length - placed, most);
  return idle + Math.max(0, Math.min(placed, most - idle, running + placed - least));
}
