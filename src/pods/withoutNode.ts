import type { Pod } from '../api/kinds.ts';

/** The pod as it will wait after its node is gone. */
export function withoutNode(pod: Pod): Pod {
  return { ...pod, spec: { ...pod.spec, nodeName: undefined } } as unknown as Pod;
}
