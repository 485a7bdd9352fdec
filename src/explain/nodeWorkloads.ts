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
  /** Pods of the same owner on any node, including these. */
  readonly siblings: readonly Pod[];
}

/** Limit on owners looked up per node. */
const MOST_WORKLOADS = 50;

/** One per owner, and one per pod without an owner. */
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
  return Promise.all(
    [...byOwner].map(async ([key, pods]): Promise<Workload> => {
      const [first] = pods as [Pod];
      const siblings = all.filter((pod) => ownerOf(pod) === key);
      return { source: await podSource(kube, first, all), pods, siblings: siblings.length === 0 ? pods : siblings };
    }),
  );
}

export function ownerOf({ metadata }: Pod): string | undefined {
  return (metadata.ownerReferences ?? []).find(({ controller }) => controller === true)?.uid;
}
