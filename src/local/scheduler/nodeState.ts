import type { Node, Pod } from '../../api/kinds.ts';
import { addResources, noResources, parseResources, subtractResources, type Resources } from '../../units/resources.ts';
import { podRequests } from './podRequests.ts';

/** A node as the scheduler weighs it: its labels and taints, what is free, and the pods that are on it. */
export interface NodeState {
  readonly node: Node;
  readonly labels: Readonly<Record<string, string>>;
  readonly free: Resources;
  readonly pods: readonly Pod[];
}

export const isTerminal = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

export function nodeState(node: Node, pods: readonly Pod[]): NodeState {
  const active = pods.filter((pod) => !isTerminal(pod));
  const used = active.reduce<Resources>((sum, pod) => addResources(sum, podRequests(pod)), noResources);
  return {
    node,
    labels: node.metadata.labels ?? {},
    free: subtractResources(parseResources(node.status?.allocatable), used),
    pods: active,
  };
}
