/** What a kubelet says of its Node and of a pod in events. In: which. Out: reasons and messages, in order. */
import type { Pod } from '../../api/kinds.ts';

export type Saying = readonly [reason: string, message: string];

const all = ({ spec }: Pod): readonly { readonly name: string; readonly image?: string }[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
];

export function started(pod: Pod): readonly Saying[] {
  return all(pod).flatMap(({ name, image = '' }): readonly Saying[] => [
    ['Pulled', `Container image "${image}" already present on machine`],
    ['Created', `Created container: ${name}`],
    ['Started', `Started container ${name}`],
  ]);
}

export function killing(pod: Pod): readonly Saying[] {
  return (pod.spec?.containers ?? []).map(({ name }) => ['Killing', `Stopping container ${name}`]);
}

export function nodeStarted(node: string): readonly Saying[] {
  return [
    ['Starting', 'Starting kubelet.'],
    nodeBecame(node, 'NodeHasSufficientMemory'),
    nodeBecame(node, 'NodeHasNoDiskPressure'),
    nodeBecame(node, 'NodeHasSufficientPID'),
    ['NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods'],
  ];
}

export function nodeBecame(node: string, what: string): Saying {
  return [what, `Node ${node} status is now: ${what}`];
}
