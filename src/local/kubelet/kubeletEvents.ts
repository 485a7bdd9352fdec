/** The events that a kubelet records about its Node and about pods. */
import type { Pod } from '../../api/kinds.ts';
import type { FailedPull } from './imagePulls.ts';

export type EventText = readonly [reason: string, message: string];

const all = ({ spec }: Pod): readonly { readonly name: string; readonly image?: string }[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
];

export function started(pod: Pod): readonly EventText[] {
  return all(pod).flatMap(({ name, image = '' }): readonly EventText[] => [
    ['Pulled', `Container image "${image}" already present on machine`],
    ['Created', `Created container: ${name}`],
    ['Started', `Started container ${name}`],
  ]);
}

export function pullFailed({ image, message }: FailedPull): readonly EventText[] {
  return [
    ['Failed', `Failed to pull image "${image}": ${message}`],
    ['Failed', 'Error: ErrImagePull'],
  ];
}

export function killing(pod: Pod): readonly EventText[] {
  return (pod.spec?.containers ?? []).map(({ name }) => ['Killing', `Stopping container ${name}`]);
}

export function nodeStarted(node: string): readonly EventText[] {
  return [
    ['Starting', 'Starting kubelet.'],
    nodeBecame(node, 'NodeHasSufficientMemory'),
    nodeBecame(node, 'NodeHasNoDiskPressure'),
    nodeBecame(node, 'NodeHasSufficientPID'),
    ['NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods'],
  ];
}

export function nodeBecame(node: string, what: string): EventText {
  return [what, `Node ${node} status is now: ${what}`];
}
