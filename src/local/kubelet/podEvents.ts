/** What a kubelet says of a pod in events. In: the pod. Out: reasons and messages, in order. */
import type { Pod } from '../../api/kinds.ts';

type Saying = readonly [reason: string, message: string];

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
