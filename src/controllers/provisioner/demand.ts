import { podKey } from '../../pods/podKey.ts';
import type { Pod } from '../../api/kinds.ts';
import { isDoNotDisrupt } from '../../pods/doNotDisrupt.ts';
import { isFullyBlocked } from '../../cluster/disruptionBudgets.ts';
import { isReschedulable } from '../../pods/podPredicates.ts';
import type { ClusterSnapshot } from '../../cluster/cluster.ts';
import type { World } from '../world/world.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { podRequests } from '../../pods/podRequests.ts';
import type { PodVolumes } from '../../constraints/volumes.ts';
import { fits, subtractResources } from '../../units/resources.ts';
import type { PodObjection } from '../../ledger/objection.ts';
import { podObjection } from './podValidation.ts';
import { resolvePodVolumes, type VolumeStores } from './podVolumes.ts';

/** Who needs room. */
export interface Demand {
  /** Pods without any promise. */
  readonly waiting: readonly Pod[];
  /** Pods that a machine on its way is meant for, by the name of its claim. */
  readonly promised: ReadonlyMap<string, readonly Pod[]>;
  readonly ignored: readonly { readonly pod: Pod; readonly objection: PodObjection }[];
  /** Of pods with disks, waiting or running, by namespace/name. */
  readonly volumes: ReadonlyMap<string, PodVolumes>;
}

/** Pods that nobody could place, pods whose node is going away and that can move, and `virtual` ones of buffers. */
export function currentDemand(world: World, snapshot: ClusterSnapshot, virtual: readonly Pod[]): Demand {
  const now = world.clock.now();
  const waiting: Pod[] = [];
  const promised = new Map<string, Pod[]>();
  const ignored: { pod: Pod; objection: PodObjection }[] = [];
  const volumes = new Map<string, PodVolumes>();
  const stores: VolumeStores = {
    claims: world.informers.volumeClaims.store,
    volumes: world.informers.volumes.store,
    classes: world.informers.storageClasses.store,
  };
  /** Notes the pod's disks; what is wrong with them otherwise. */
  const diskObjection = (pod: Pod): PodObjection | undefined => {
    const resolved = resolvePodVolumes(pod, stores);
    if (resolved === undefined) return undefined;
    if ('objection' in resolved) return resolved.objection;
    volumes.set(podKey(pod), resolved.volumes);
    return undefined;
  };
  const admit = (pod: Pod): void => {
    const claim = world.cluster.promisedClaim(pod, now);
    if (claim === undefined) waiting.push(pod);
    else promised.set(claim, [...(promised.get(claim) ?? []), pod]);
  };
  for (const pod of snapshot.pendingPods) {
    const objection = podObjection(pod) ?? diskObjection(pod);
    if (objection) ignored.push({ pod, objection });
    else admit(pod);
  }
  for (const { pods } of snapshot.nodes) for (const pod of pods) diskObjection(pod);
  for (const pod of homelessPods(world, snapshot, now)) admit(pod);
  for (const [claim, pods] of promised) {
    const { held, outrun } = stillPromised(world.cluster.viewOf(claim), pods);
    promised.set(claim, held);
    waiting.push(...outrun);
  }
  waiting.push(...virtual);
  return { waiting, promised, ignored, volumes };
}

/**
 * A machine that is up may have been taken by other pods than those it was bought for: who has no room on it any more
 * need not wait until the promise ends.
 */
function stillPromised(
  machine: NodeView | undefined,
  pods: readonly Pod[],
): { readonly held: Pod[]; readonly outrun: readonly Pod[] } {
  if (!machine?.initialized) return { held: [...pods], outrun: [] };
  const held: Pod[] = [];
  const outrun: Pod[] = [];
  let free = subtractResources(machine.allocatable, machine.requested);
  for (const pod of pods) {
    const requests = podRequests(pod);
    if (fits(requests, free)) {
      held.push(pod);
      free = subtractResources(free, requests);
    } else outrun.push(pod);
  }
  return { held, outrun };
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
