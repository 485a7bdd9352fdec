/** The question about one pod, asked for all pods of its owner that wait: a place that another of them takes is none. */
import type { Pod } from '../api/kinds.ts';
import { mergedWith } from '../kube/mergedWith.ts';
import { mergePatch } from '../kube/mergePatch.ts';
import { podKey } from '../pods/podKey.ts';
import type { Solution } from '../solver/problem.ts';
import type { Asked } from '../solver/smallestChange.ts';

/** Edits of the pod are made to its siblings too, as their owner would. */
export function forAll(asked: Asked, pod: Pod, siblings: ReadonlySet<string>): Asked {
  const own = podKey(pod);
  const told = (solution: Solution): Solution => {
    const { unplaced } = solution;
    const other = unplaced.find((each) => siblings.has(each.pod));
    if (other === undefined || unplaced.some((each) => each.pod === own)) return solution;
    return { ...solution, unplaced: [...unplaced, { pod: own, reason: other.reason }] };
  };
  return {
    ...asked,
    solution: told(asked.solution),
    ask: (overlay, options, pools) => {
      const edited = overlay.pods.find((each) => podKey(each) === own);
      const change = edited && mergePatch({ spec: pod.spec }, { spec: edited.spec });
      const pods =
        change === undefined
          ? overlay.pods
          : overlay.pods.map((each) => (siblings.has(podKey(each)) ? (mergedWith(each, change) as Pod) : each));
      return told(asked.ask({ ...overlay, pods }, options, pools));
    },
  };
}
