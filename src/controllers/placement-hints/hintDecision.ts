import type { Pod } from '../../api/kinds.ts';
import { hintedNode, preemptedNode } from '../../api/placementHint.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { isActive, isDaemonPod, isNodePod } from '../../pods/podPredicates.ts';
import { podRequests } from '../../pods/podRequests.ts';
import { fits, subtractResources } from '../../units/resources.ts';

/** The valid part of the plan for a pod. */
export interface Expectation {
  /** The pod's planned node, once it has joined. */
  readonly view: NodeView | undefined;
  /** Whether the pod has a place at all, even on a node that has not joined yet. */
  readonly isPlanned: boolean;
  /** Whether it matters which of the planned pods gets which node. */
  readonly matters: boolean;
  /** Others have taken the room that the pod was to have. */
  readonly isOutrun: boolean;
}

/** The node to write to the pod's status, `null` to remove a hint, undefined to change nothing. */
export function hintDecision(
  pod: Pod,
  { view, isPlanned, matters, isOutrun }: Expectation,
  schedulers: ReadonlySet<string>,
): string | null | undefined {
  if (!mayHint(pod, schedulers)) return undefined;
  const said = hintedNode(pod);
  if (!isPlanned || isOutrun) return said === undefined ? undefined : null;
  const node = view?.node?.metadata.name;
  if (node !== undefined && node === said) return undefined;
  if (view !== undefined && node !== undefined && matters && hasRoom(view, pod)) return node;
  // Its place is now elsewhere: an old hint would reserve room that another pod should get.
  return said === undefined ? undefined : null;
}

/** Pods of a known scheduler for which it has not chosen a node by preemption. */
function mayHint(pod: Pod, schedulers: ReadonlySet<string>): boolean {
  const { nodeName, schedulingGates = [], schedulerName = 'default-scheduler' } = pod.spec ?? {};
  if (nodeName || !isActive(pod) || isDaemonPod(pod) || isNodePod(pod)) return false;
  return schedulingGates.length === 0 && schedulers.has(schedulerName) && preemptedNode(pod) === undefined;
}

/** On a running node other pods may have been faster: a hint without room would only delay the pod. */
function hasRoom({ initialized, allocatable, requested }: NodeView, pod: Pod): boolean {
  return !initialized || fits(podRequests(pod), subtractResources(allocatable, requested));
}
