/**
 * Some plans cannot be hinted completely. The scheduler counts pods nominated to a node as running there, so of pods
 * that must spread evenly, only one can be nominated to a node at a time; the room of the others stays open to any pod.
 * And it reserves no room against pods of higher priority: such a pod, tried before its own node is open, takes the
 * room of others. A plan with each spread pod on its own node, and with pods of different priorities on different nodes
 * (which then open by priority), can be hinted completely.
 */
import type { TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import type { Pod } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { spreadKey } from '../../cluster/spreadOrder.ts';
import { podKey } from '../../pods/podKey.ts';
import { podKind } from '../../pods/podKind.ts';
import type { Solution, SolveOptions } from '../../solver/problem.ts';

/**
 * Maximum cost of such a plan relative to the cheapest: less than what the nodes bought after the scheduler's own
 * choices would cost.
 */
const WORTH = 1.02;

/**
 * Such pods fill nodes less easily, so that a longer search pays; less of it for many pods, of which each round costs
 * more.
 */
const SEARCH = { rounds: 4_000, work: 4_000_000 };
/**
 * What a node costs in addition, as a share of a pod's mean price: nodes open one after another while the scheduler
 * already tries pods, so of two plans at about the same price the one with fewer nodes is followed better.
 */
const NODE = 0.1;

/** The solution, or one that can be hinted completely, if that costs little more. */
export function followablePlan(
  solution: Solution,
  pods: readonly Pod[],
  plan: (
    pods: readonly Pod[],
    options?: Pick<SolveOptions, 'keepsPrioritiesApart' | 'searchRounds' | 'nodeOverheadCost'>,
  ) => Solution,
): Solution {
  const keepsPrioritiesApart = mixesPriorities(solution, pods);
  const isShared = sharesNodes(solution, pods);
  const isComplete = !isShared && !keepsPrioritiesApart;
  if (isComplete && !keepsSiblingsApart(solution, pods)) return solution;
  const apart = plan(isShared ? pods.map(onNodesOfTheirOwn) : pods, {
    keepsPrioritiesApart,
    searchRounds: Math.min(SEARCH.rounds, Math.ceil(SEARCH.work / pods.length)),
    nodeOverheadCost: (NODE * solution.pricePerHour) / pods.length,
  });
  const limit = solution.pricePerHour * (isComplete ? 1 : WORTH);
  return apart.unplaced.length === 0 && apart.pricePerHour <= limit ? apart : solution;
}

/** Whether pods of a plan of several nodes keep others away from their nodes: they fill them less easily, too. */
function keepsSiblingsApart({ plannedNodes }: Solution, pods: readonly Pod[]): boolean {
  return (
    plannedNodes.length > 1 &&
    pods.some(({ spec }) => spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length)
  );
}

/** Whether a planned node (of several) has pods of different priorities. */
function mixesPriorities({ plannedNodes }: Solution, pods: readonly Pod[]): boolean {
  const priorityOf = ({ spec }: Pod): number => spec?.priority ?? 0;
  const [first] = pods;
  if (plannedNodes.length < 2 || first === undefined) return false;
  if (pods.every((pod) => priorityOf(pod) === priorityOf(first))) return false;
  const priorities = new Map(pods.map((pod) => [podKey(pod), priorityOf(pod)]));
  return plannedNodes.some(({ pods: own }) => new Set(own.map((key) => priorities.get(key))).size > 1);
}

/** Whether spread pods of one kind share a node. */
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

/** The pod with its spread over other domains also applied to hostnames. */
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
