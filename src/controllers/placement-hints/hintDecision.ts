import type { Pod } from '../../api/kinds.ts';
import { hintedNode, preemptedNode } from '../../api/placementHint.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { isActive, isDaemonPod, isNodePod } from '../../pods/podPredicates.ts';
import { podRequests } from '../../pods/podRequests.ts';
import { fits, subtractResources } from '../../units/resources.ts';

/** What a pod's plan says, as far as it stands. */
export interface Expectation {
  /** The node that the pod has a place on, once it has joined. */
  readonly view: NodeView | undefined;
  /** Whether the pod has a place at all, be it on a node that has yet to join. */
  readonly isPlanned: boolean;
  /** Whether it matters which of the planned pods gets which node. */
  readonly matters: boolean;
}

/** The node to name in the pod's status, `null` to take a hint back, undefined to leave the pod alone. */
export function hintDecision(
  pod: Pod,
  { view, isPlanned, matters }: Expectation,
  schedulers: ReadonlySet<string>,
): string | null | undefined {
  if (!mayHint(pod, schedulers)) return undefined;
  const said = hintedNode(pod);
  if (!isPlanned) return said === undefined ? undefined : null;
  const node = view?.node?.metadata.name;
  if (node !== undefined && node === said) return undefined;
  if (view !== undefined && node !== undefined && matters && hasRoom(view, pod)) return node;
  // Its place is elsewhere by now: a hint that stays keeps room from the pod that is expected there.
  return said === undefined ? undefined : null;
}

/** Pods that a scheduler we know will look at, and that it has not chosen a node for by preemption. */
function mayHint(pod: Pod, schedulers: ReadonlySet<string>): boolean {
  const { nodeName, schedulingGates = [], schedulerName = 'default-scheduler' } = pod.spec ?? {};
  if (nodeName || !isActive(pod) || isDaemonPod(pod) || isNodePod(pod)) return false;
  return schedulingGates.length === 0 && schedulers.has(schedulerName) && preemptedNode(pod) === undefined;
}

/** On a node that is up others may have been faster: naming it again would only delay the pod. */
function hasRoom({ initialized, allocatable, requested }: NodeView, pod: Pod): boolean {
  return !initialized || fits(podRequests(pod), subtractResources(allocatable, requested));
}
