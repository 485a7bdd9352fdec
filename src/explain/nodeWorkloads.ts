/** The objects that created the pods of a node. */
import type { Pod } from '../api/kinds.ts';
import type { Kube } from '../kube/kube.ts';
import { isReschedulable } from '../pods/podPredicates.ts';
import type { PodSource } from './podFixes.ts';
import { podSource } from './podSource.ts';

export interface Workload {
  readonly source: PodSource;
  /** Pods on the node. */
  readonly pods: readonly Pod[];
  /** Pods on the node from an older template, which a rollout is replacing. */
  readonly outdated: readonly Pod[];
  /** Pods of the same owner on any node, including these. */
  readonly siblings: readonly Pod[];
}

/** Limit on owners looked up per node. */
const MOST_WORKLOADS = 50;

/** One per object whose template makes pods, and one per pod without an owner. */
export async function nodeWorkloads(
  kube: Kube,
  own: readonly Pod[],
  all: readonly Pod[],
): Promise<readonly Workload[]> {
  const byOwner = new Map<string, Pod[]>();
  for (const pod of own.filter(isReschedulable)) {
    const key = ownerOf(pod) ?? pod.metadata.uid ?? `${pod.metadata.namespace}/${pod.metadata.name}`;
    const known = byOwner.get(key);
    if (known !== undefined) known.push(pod);
    else if (byOwner.size < MOST_WORKLOADS) byOwner.set(key, [pod]);
  }
  const workloads = await Promise.all(
    [...byOwner].map(async ([key, pods]): Promise<Workload> => {
      const [first] = pods as [Pod];
      const siblings = all.filter((pod) => ownerOf(pod) === key);
      const source = await podSource(kube, first, all);
      return { source, pods, outdated: [], siblings: siblings.length === 0 ? pods : siblings };
    }),
  );
  const byTarget = new Map<string, Workload>();
  for (const workload of workloads) {
    const key = JSON.stringify(workload.source.target);
    const known = byTarget.get(key);
    byTarget.set(key, known === undefined ? workload : duringRollout(known, workload));
  }
  return [...byTarget.values()];
}

/** A Deployment in a rollout owns pods through two ReplicaSets: those of the older one leave by themselves. */
function duringRollout(one: Workload, other: Workload): Workload {
  const [newer, older] = one.source.isOutdated === true ? [other, one] : [one, other];
  return { ...newer, outdated: [...newer.outdated, ...older.outdated, ...older.pods] };
}

export function ownerOf({ metadata }: Pod): string | undefined {
  return (metadata.ownerReferences ?? []).find(({ controller }) => controller === true)?.uid;
}
