/** Drains a node before AKS deletes it: cordons it, then evicts its pods as far as their disruption budgets allow. */
import { Kinds } from '../../api/kinds.ts';
import type { Clock } from '../../clock/clock.ts';
import { ignoreNotFound, isNotFound, isTooManyRequests } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';
import { isDaemonPod, isNodePod, isTerminal, isTerminating } from '../../pods/podPredicates.ts';

/** AKS's own drain timeout is 30 minutes, too. */
const TIMEOUT = 30 * 60_000;
const RETRY_DELAY = 5_000;

/** Returns undefined once the node is empty or gone, or AKS's message about a pod that remains at the timeout. */
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
    await clock.sleep(RETRY_DELAY);
  }
}

function problem(node: string, pod: string, refused: string | undefined): string {
  return refused === undefined
    ? `Drain node ${node} failed when evicting pod ${pod}. The pod did not end in time. See https://aka.ms/aks/debugdrainfailures.`
    : `Drain node ${node} failed when evicting pod ${refused}. Eviction failed with Too many Requests error. This is often caused by a restrictive Pod Disruption Budget (PDB) policy. See https://aka.ms/aks/debugdrainfailures. Original error: Cannot evict pod as it would violate the pod's disruption budget.`;
}
