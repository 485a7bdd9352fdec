import type { Pod } from '../../api/kinds.ts';
import { isDoNotDisrupt } from '../../cluster/doNotDisrupt.ts';
import { isFullyBlocked } from '../../cluster/disruptionBudgets.ts';
import { isReschedulable } from '../../cluster/podPredicates.ts';
import type { ClusterSnapshot } from '../../cluster/cluster.ts';
import type { World } from '../world.ts';
import { podObjection, type PodObjection } from './podValidation.ts';
import type { VolumeLookup, VolumeVerdict } from './volumeLookup.ts';

/** Who needs room. */
export interface Demand {
  /** Pods without any promise. */
  readonly waiting: readonly Pod[];
  /** Pods that a machine on its way is meant for, by the name of its claim. */
  readonly promised: ReadonlyMap<string, readonly Pod[]>;
  readonly ignored: readonly { readonly pod: Pod; readonly objection: PodObjection }[];
}

/** Pods that nobody could place, pods whose node is going away and that can move, and `virtual` ones of buffers. */
export function currentDemand(
  world: World,
  snapshot: ClusterSnapshot,
  virtual: readonly Pod[],
  lookup: VolumeLookup,
): Demand {
  const now = world.clock.now();
  const waiting: Pod[] = [];
  const promised = new Map<string, Pod[]>();
  const ignored: { pod: Pod; objection: PodObjection }[] = [];
  const admit = (pod: Pod): void => {
    const claim = world.cluster.promisedClaim(pod, now);
    if (claim === undefined) waiting.push(pod);
    else promised.set(claim, [...(promised.get(claim) ?? []), pod]);
  };
  for (const pod of snapshot.pendingPods) {
    const objection = podObjection(pod) ?? volumeObjection(lookup.of(pod));
    if (objection) ignored.push({ pod, objection });
    else admit(pod);
  }
  for (const pod of homelessPods(world, snapshot, now)) admit(pod);
  waiting.push(...virtual);
  return { waiting, promised, ignored };
}

function volumeObjection(verdict: VolumeVerdict | undefined): PodObjection | undefined {
  return verdict?.kind === 'objection' ? { message: verdict.message, silent: false } : undefined;
}

/** Pods of nodes that are going, except those that cannot leave them yet: their time will come. */
function homelessPods({ informers }: World, snapshot: ClusterSnapshot, now: number): readonly Pod[] {
  const budgets = [...informers.disruptionBudgets.store.list()];
  return snapshot.nodes
    .filter(({ deleting }) => deleting)
    .flatMap(({ pods }) => pods)
    .filter((pod) => isReschedulable(pod) && !isDoNotDisrupt(pod, now) && !isFullyBlocked(pod, budgets))
    .map((pod) => ({ ...pod, spec: { ...pod.spec, nodeName: undefined } }) as unknown as Pod);
}
