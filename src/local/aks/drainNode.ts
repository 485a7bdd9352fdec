/** How AKS empties a node before it goes: it is cordoned, and its pods are evicted as far as their budgets allow. */
import { Kinds } from '../../api/kinds.ts';
import type { Clock } from '../../clock/clock.ts';
import { ignoreNotFound, isNotFound, isTooManyRequests } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';
import { isDaemonPod, isNodePod, isTerminal, isTerminating } from '../../pods/podPredicates.ts';

/** AKS gives up after half an hour, too. */
const TIMEOUT = 30 * 60_000;
const TRY_AGAIN = 5_000;

/** Undefined when the node is empty or gone; else what AKS says of the pod that keeps it. */
export async function drainNode(kube: Kube, clock: Clock, node: string): Promise<string | undefined> {
  const body = { spec: { unschedulable: true } };
  const cordoned = await ignoreNotFound(kube.patch(Kinds.Node, { name: node }, { type: 'merge', body }));
  if (cordoned === undefined) return undefined;
  const deadline = clock.now() + TIMEOUT;
  for (;;) {
    const { items } = await kube.list(Kinds.Pod, { fieldSelector: `spec.nodeName=${node}` });
    const pods = items.filter((pod) => !isDaemonPod(pod) && !isNodePod(pod) && !isTerminal(pod));
    const [first] = pods;
    if (first === undefined) return undefined;
    let refused: string | undefined;
    for (const { metadata } of pods.filter((pod) => !isTerminating(pod))) {
      try {
        await kube.evict({ name: metadata.name, namespace: metadata.namespace });
      } catch (error) {
        if (isTooManyRequests(error)) refused ??= metadata.name;
        else if (!isNotFound(error)) throw error;
      }
    }
    if (clock.now() >= deadline) return problem(node, first.metadata.name, refused);
    await clock.sleep(TRY_AGAIN);
  }
}

function problem(node: string, pod: string, refused: string | undefined): string {
  return refused === undefined
    ? `Drain node ${node} failed when evicting pod ${pod}. The pod did not end in time. See https://aka.ms/aks/debugdrainfailures.`
    : `Drain node ${node} failed when evicting pod ${refused}. Eviction failed with Too many Requests error. This is often caused by a restrictive Pod Disruption Budget (PDB) policy. See https://aka.ms/aks/debugdrainfailures. Original error: Cannot evict pod as it would violate the pod's disruption budget.`;
}
