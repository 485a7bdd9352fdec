/**
 * Places pods at least cost: on existing nodes, then on planned ones. Pure: the same question has the same answer,
 * whatever the order of its lists.
 */
import { podKey } from '../pods/podKey.ts';
import type { Pod } from '../api/kinds.ts';
import { bestPlan } from './bestPlan.ts';
import { lowerBound, NO_BOUND } from './bound.ts';
import { refusalReason } from './refusal.ts';
import { Model } from './model/model.ts';
import { GROUP_MIN_ANNOTATION, podGroup } from './model/podShape.ts';
import { unplacedPods, type PodPlan } from './planOnce.ts';
import { plannedNodes } from './plannedNodes.ts';
import type { Overlay, Problem, Solution, SolveOptions } from './problem.ts';
import { exceededQuotas, modelWithin } from './quotas.ts';
import type { UnplacedReason } from './reasons.ts';
import { intAt, itemAt } from './rows.ts';
import { suggestChanges } from './smallestChange.ts';

/** Compiles the problem and answers it. For many questions about one snapshot, create a `Model` and use `ask`. */
export function solve(problem: Problem, options: SolveOptions = {}): Solution {
  return ask(Model.of(problem), { pods: problem.pods }, options);
}

/** Solves within the snapshot's quotas: each round adds more of them, so this terminates. */
export function ask(model: Model, overlay: Overlay, options: SolveOptions = {}): Solution {
  let solution = answer(model, overlay, options);
  let kept: readonly string[] = [];
  for (;;) {
    const more = exceededQuotas(model.snapshot, solution, kept);
    if (more.length === 0) break;
    kept = [...kept, ...more];
    solution = answer(modelWithin(model, kept), overlay, options);
  }
  return options.suggestChanges === true ? suggestChanges(model, overlay, options, solution, ask) : solution;
}

function answer(model: Model, overlay: Overlay, options: SolveOptions): Solution {
  const groups = groupSizes(overlay.pods);
  const running = groups.size === 0 ? [] : runningPods(model, overlay);
  const unplaced: { pod: Pod; reason: UnplacedReason }[] = [];
  let pods = overlay.pods;
  let avoidsReserved = false;
  // Every round gives up reservations, a pod or a group, so this terminates.
  for (;;) {
    const plan = bestPlan(model, { ...overlay, pods }, options, avoidsReserved);
    if (plan.missed.length > 0) {
      if (avoidsReserved) {
        unplaced.push(...plan.missed);
        const missed = new Set(plan.missed.map(({ pod }) => pod));
        pods = pods.filter((pod) => !missed.has(pod));
      }
      avoidsReserved = true;
      continue;
    }
    const failed = unplacedPods(plan);
    const broken = brokenGroups(groups, running, pods, failed);
    if (broken.size === 0) {
      for (const { pod, podClass, reason } of failed) {
        const refusal = options.outcomeOnly === true ? NO_DETAIL : refusalReason(plan, podClass);
        unplaced.push({ pod, reason: reason ?? refusal });
      }
      return toSolution(plan, unplaced, options);
    }
    for (const pod of pods) {
      const reason = broken.get(podGroup(pod) ?? '');
      if (reason !== undefined) unplaced.push({ pod, reason });
    }
    pods = pods.filter((pod) => !broken.has(podGroup(pod) ?? ''));
  }
}

/** Reason for unplaced pods when only the outcome is requested. */
const NO_DETAIL: UnplacedReason = { kind: 'refused', pools: [], nodes: [] };

function toSolution(
  plan: PodPlan,
  unplaced: readonly { pod: Pod; reason: UnplacedReason }[],
  { explainChoices = false, outcomeOnly = false }: SolveOptions,
): Solution {
  const { compiled, onExisting, fit, planned, searchRounds } = plan;
  const { nodes, rank } = compiled.model.existing;
  return {
    onExisting: [...onExisting.placed]
      .sort(([left], [right]) => intAt(rank, left) - intAt(rank, right))
      .map(([node, pods]) => ({ node: itemAt(nodes, node).name, pods: pods.map(podKey) })),
    plannedNodes: plannedNodes(plan, explainChoices, outcomeOnly),
    unplaced: unplaced
      .map(({ pod, reason }) => ({ pod: podKey(pod), reason }))
      .sort((left, right) => (left.pod < right.pod ? -1 : 1)),
    pricePerHour: planned.reduce((sum, { price }) => sum + price, 0),
    lowerBound: outcomeOnly ? NO_BOUND : lowerBound(compiled, fit, planned),
    searchRounds,
  };
}

function runningPods({ existing }: Model, { withoutNodes }: Overlay): Pod[] {
  return existing.nodes.flatMap(({ name, pods }) => (withoutNodes?.has(name) === true ? [] : pods));
}

/** By group: how many members must be placed. Without a number: all waiting ones. */
function groupSizes(pods: readonly Pod[]): Map<string, number> {
  const sizes = new Map<string, number>();
  const asked = new Map<string, number>();
  for (const pod of pods) {
    const group = podGroup(pod);
    if (group === undefined) continue;
    sizes.set(group, (sizes.get(group) ?? 0) + 1);
    const min = Number(pod.metadata.annotations?.[GROUP_MIN_ANNOTATION]);
    if (Number.isSafeInteger(min) && min > 0) asked.set(group, Math.max(asked.get(group) ?? 0, min));
  }
  return new Map([...sizes].map(([group, size]) => [group, asked.get(group) ?? size]));
}

function brokenGroups(
  needed: ReadonlyMap<string, number>,
  running: readonly Pod[],
  pods: readonly Pod[],
  failed: readonly { readonly pod: Pod }[],
): Map<string, UnplacedReason> {
  if (needed.size === 0) return new Map();
  const placeable = new Map<string, number>();
  const count = (pod: Pod, amount: number): void => {
    const group = podGroup(pod);
    if (group !== undefined) placeable.set(group, (placeable.get(group) ?? 0) + amount);
  };
  for (const pod of pods) count(pod, 1);
  const waiting = new Set(placeable.keys());
  for (const pod of running) if (waiting.has(podGroup(pod) ?? '')) count(pod, 1);
  for (const { pod } of failed) count(pod, -1);
  const broken = [...placeable].filter(([group, placed]) => placed < (needed.get(group) ?? 0));
  // The last by name gives up first: the room it frees may save the others.
  const [last] = broken.sort(([left], [right]) => (left < right ? 1 : -1));
  if (last === undefined) return new Map();
  const [group, placed] = last;
  return new Map([[group, { kind: 'group', group, placeable: placed, needed: needed.get(group) ?? 0 }]]);
}
