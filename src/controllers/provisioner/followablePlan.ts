/**
 * Some plans cannot be told to the scheduler whole. Of pods that must spread evenly, it counts those that are nominated to
 * a node as if they ran there, and so finds none of them allowed on a node that several are nominated to: only one at a
 * time can be told such a node, and the room of the others is open to any pod. And it keeps no room from pods of a higher
 * priority: one of these that is tried before its own node is open takes the room of others. A plan with each of the former
 * on a node of its own, and with pods of different priorities on different nodes, which then open by priority, can be told
 * whole.
 */
import type { TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import type { Pod } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { spreadKey } from '../../cluster/spreadOrder.ts';
import { podKey } from '../../pods/podKey.ts';
import { podKind } from '../../pods/podKind.ts';
import type { Solution, SolveOptions } from '../../solver/problem.ts';

/** What such a plan may cost over the cheapest: less than the nodes that are bought when the scheduler goes its own way. */
const WORTH = 1.02;

/** The solution, or one that the scheduler can be told whole, where there is one that costs little more. */
export function followablePlan(
  solution: Solution,
  pods: readonly Pod[],
  plan: (pods: readonly Pod[], options?: Pick<SolveOptions, 'keepsPrioritiesApart'>) => Solution,
): Solution {
  const keepsPrioritiesApart = mixesPriorities(solution, pods);
  const isShared = sharesNodes(solution, pods);
  if (!isShared && !keepsPrioritiesApart) return solution;
  const apart = plan(isShared ? pods.map(onNodesOfTheirOwn) : pods, { keepsPrioritiesApart });
  const isComplete = apart.unplaced.length === 0;
  return isComplete && apart.pricePerHour <= solution.pricePerHour * WORTH ? apart : solution;
}

/** Whether pods of different priorities are to share one of several planned nodes. */
function mixesPriorities({ plannedNodes }: Solution, pods: readonly Pod[]): boolean {
  const priorityOf = ({ spec }: Pod): number => spec?.priority ?? 0;
  const [first] = pods;
  if (plannedNodes.length < 2 || first === undefined) return false;
  if (pods.every((pod) => priorityOf(pod) === priorityOf(first))) return false;
  const priorities = new Map(pods.map((pod) => [podKey(pod), priorityOf(pod)]));
  return plannedNodes.some(({ pods: own }) => new Set(own.map((key) => priorities.get(key))).size > 1);
}

/** Whether pods of one kind that must spread are to share a node. */
function sharesNodes({ onExisting, plannedNodes }: Solution, pods: readonly Pod[]): boolean {
  const kinds = new Map(
    pods.flatMap((pod) => (spreadKey(pod) === undefined ? [] : [[podKey(pod), podKind(pod).kind] as const])),
  );
  if (kinds.size < 2) return false;
  return [...onExisting, ...plannedNodes].some(({ pods: own }) => {
    const there = own.flatMap((key) => kinds.get(key) ?? []);
    return new Set(there).size < there.length;
  });
}

/** The pod as if it had to spread over nodes as it has over other domains. */
function onNodesOfTheirOwn(pod: Pod): Pod {
  if (spreadKey(pod) === undefined || pod.spec === undefined) return pod;
  const { topologySpreadConstraints: own = [] } = pod.spec;
  const others = own.flatMap(
    ({ labelSelector, matchLabelKeys, whenUnsatisfiable, topologyKey }): TopologySpreadConstraint[] =>
      whenUnsatisfiable !== 'DoNotSchedule' || topologyKey === Labels.hostname
        ? []
        : [
            {
              topologyKey: Labels.hostname,
              whenUnsatisfiable,
              maxSkew: 1,
              ...(labelSelector && { labelSelector }),
              ...(matchLabelKeys && { matchLabelKeys }),
            },
          ],
  );
  return { ...pod, spec: { ...pod.spec, topologySpreadConstraints: [...own, ...others] } };
}
