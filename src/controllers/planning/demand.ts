import type { Pod } from '../../api/kinds.ts';
import { isDoNotDisrupt } from '../../pods/doNotDisrupt.ts';
import { PodBudgets } from '../../cluster/disruptionBudgets.ts';
import { isReschedulable } from '../../pods/podPredicates.ts';
import type { ClusterSnapshot } from '../../cluster/cluster.ts';
import type { World } from '../world/world.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { stillPromised } from '../../cluster/stillPromised.ts';
import { withoutNode } from '../../pods/withoutNode.ts';
import type { PodVolumes } from '../../constraints/volumes.ts';
import { subtractResources, type Resources } from '../../units/resources.ts';
import type { PodObjection } from '../../ledger/objection.ts';
import { podObjection } from './podValidation.ts';
import type { KnownVolumes } from './podVolumes.ts';

/** The pods that need room. */
export interface Demand {
  /** Pods without a place in any plan. */
  readonly waiting: readonly Pod[];
  /** Pods with a place on a node that is launching or came up recently, by view name. */
  readonly promised: ReadonlyMap<string, readonly Pod[]>;
  readonly ignored: readonly { readonly pod: Pod; readonly objection: PodObjection }[];
  /** For pods with disks, waiting or running, by `podKey`; resolved on access. */
  readonly volumes: Pick<ReadonlyMap<string, PodVolumes>, 'get'>;
}

/** Pods that the scheduler could not place, movable pods of nodes being deleted, and `virtual` pods of buffers. */
export function currentDemand(
  world: World,
  snapshot: ClusterSnapshot,
  virtual: readonly Pod[],
  disks: KnownVolumes,
): Demand {
  const now = world.clock.now();
  world.cluster.restorePlaces();
  const waiting: Pod[] = [];
  const promised = new Map<string, readonly Pod[]>();
  const ignored: { pod: Pod; objection: PodObjection }[] = [];
  const diskObjection = (pod: Pod): PodObjection | undefined => {
    const resolved = disks.of(pod);
    return resolved && 'objection' in resolved ? resolved.objection : undefined;
  };
  const held = new Set<string>();
  for (const { view, places } of world.cluster.places.all(now)) {
    const { kept, outrun } = stillPromised(
      places.map(({ pod }) => pod),
      roomOn(view),
    );
    if (kept.length > 0) promised.set(view.name, kept);
    const lost = new Set(outrun);
    for (const { pod } of places) if (!lost.has(pod)) held.add(pod.metadata.uid ?? '');
  }
  const admit = (pod: Pod): void => {
    if (!held.has(pod.metadata.uid ?? '')) waiting.push(pod);
  };
  for (const pod of snapshot.pendingPods) {
    const objection = podObjection(pod) ?? diskObjection(pod);
    if (objection) ignored.push({ pod, objection });
    else admit(pod);
  }
  for (const pod of homelessPods(world, snapshot, now)) admit(pod);
  waiting.push(...virtual);
  return { waiting, promised, ignored, volumes: { get: (key) => volumesOf(key, world.cluster, disks) } };
}

function volumesOf(key: string, cluster: World['cluster'], disks: KnownVolumes): PodVolumes | undefined {
  const at = key.indexOf('/');
  const pod = cluster.pod({ namespace: key.slice(0, at), name: key.slice(at + 1) });
  const resolved = pod && disks.of(pod);
  return resolved && 'volumes' in resolved ? resolved.volumes : undefined;
}

/**
 * Other pods may have taken the room on a node that is up: a pod that no longer fits need not wait until its place
 * expires.
 */
function roomOn({ initialized, allocatable, requested }: NodeView): Resources | undefined {
  return initialized ? subtractResources(allocatable, requested) : undefined;
}

/** Pods of nodes being deleted, except those that cannot leave yet. */
function homelessPods({ informers }: World, snapshot: ClusterSnapshot, now: number): readonly Pod[] {
  const budgets = new PodBudgets(informers.disruptionBudgets.store.list());
  return snapshot.nodes
    .filter(({ deleting }) => deleting)
    .flatMap(({ pods }) => pods)
    .filter((pod) => isReschedulable(pod) && !isDoNotDisrupt(pod, now) && !budgets.isFullyBlocked(pod))
    .map(withoutNode);
}
