/**
 * Places pods at least cost: on existing nodes, then on planned ones. Pure: the same question has the same answer,
 * whatever the order of its lists.
 */
import { podKey } from '../pods/podKey.ts';
import type { Pod } from '../api/kinds.ts';
import { lowerBound, NO_BOUND } from './bound.ts';
import { refusalReason } from './refusal.ts';
import type { PodClass } from './model/compiledDemand.ts';
import { Model } from './model/model.ts';
import { GROUP_MIN_ANNOTATION, podGroup } from './model/podShape.ts';
import {
  comparePriority,
  hasUnplacedPods,
  mightBePlaced,
  planCost,
  planOnce,
  unplacedPods,
  type PodPlan,
  type SearchMode,
} from './planOnce.ts';
import { plannedNodes } from './plannedNodes.ts';
import type { Overlay, Problem, Solution, SolveOptions } from './problem.ts';
import type { UnplacedReason } from './reasons.ts';
import { intAt, itemAt } from './rows.ts';
import { suggestChanges } from './smallestChange.ts';

/** Compiles the problem and answers it. For many questions about one snapshot, make a `Model` and use `ask`. */
export function solve(problem: Problem, options: SolveOptions = {}): Solution {
  return ask(new Model(problem), { pods: problem.pods }, options);
}

export function ask(model: Model, overlay: Overlay, options: SolveOptions = {}): Solution {
  const groups = groupSizes(overlay.pods);
  const running = groups.size === 0 ? [] : runningPods(model, overlay);
  const unplaced: { pod: Pod; reason: UnplacedReason }[] = [];
  let pods = overlay.pods;
  let avoidsReserved = false;
  // Every turn gives up reservations, a pod or a group, so this ends.
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
      const solution = toSolution(plan, unplaced, options);
      return options.suggestChanges === true ? suggestChanges(model, overlay, options, solution, ask) : solution;
    }
    for (const pod of pods) {
      const reason = broken.get(podGroup(pod) ?? '');
      if (reason !== undefined) unplaced.push({ pod, reason });
    }
    pods = pods.filter((pod) => !broken.has(podGroup(pod) ?? ''));
  }
}

/** Up to here plain first-fit is tried as well where pods have relations that the packing only approximates. */
const MAX_PODS_TWICE = 400;
/** Up to here more orders are tried. */
const MAX_PODS_REORDERED = 100;
/** How often pods that wait are tried again in front of the others. */
const MAX_RETRIES = 4;
const AS_THEY_ARE: Rank = () => 0;
/** What an unplaced pod is told when only the outcome is asked for. */
const NO_DETAIL: UnplacedReason = { kind: 'refused', pools: [], nodes: [] };

/** Offerings without a zone may be left out at first; when pods wait because of that, they are not. */
function bestPlan(model: Model, overlay: Overlay, options: SolveOptions, avoidsReserved: boolean): PodPlan {
  const plan = fullestPlan(model, overlay, options, { staysZonal: true, avoidsReserved });
  if (!plan.compiled.isKeptZonal || !hasUnplacedPods(plan)) return plan;
  const wider = fullestPlan(model, overlay, options, { staysZonal: false, avoidsReserved });
  return unplacedPods(wider).length < unplacedPods(plan).length ? wider : plan;
}

/**
 * Pods that wait may have a place when they come before others: they are tried again in front, first those that waited,
 * then also those that waited because of them, then also all that are bound to nodes or other pods.
 */
function fullestPlan(model: Model, overlay: Overlay, options: SolveOptions, mode: ZonalMode): PodPlan {
  let best = cheapestPlan(model, overlay, options, mode);
  if (overlay.pods.length > MAX_PODS_TWICE) return best;
  const first = new Set<number>();
  let last = best;
  for (let retry = 0; retry < MAX_RETRIES && best.deferrals.size === 0; retry++) {
    const open = last.waiting.filter(({ podClass, pods }) => pods.length > 0 && mightBePlaced(last, podClass));
    if (open.length === 0 || !hasUnplacedPods(best)) break;
    const before = first.size;
    for (const { podClass } of open) first.add(podClass.id);
    if (first.size === before) {
      for (const podClass of best.compiled.classes) if (isBound(podClass)) first.add(podClass.id);
    }
    if (first.size === before) break;
    const inFront = new Set(first);
    const rank: Rank = ({ id }) => (inFront.has(id) ? 0 : 1);
    last = planOnce(model, overlay, options, { ...mode, isExact: true, isThrifty: false, rank });
    if (comparePriority(best, last) > 0) best = last;
  }
  return best;
}

/** Largest first; with few pods also those with fewest pools to go to, those with rules of their own, smallest first. */
function exactSearches({ compiled, fit, planned }: PodPlan): Pick<SearchMode, 'rank' | 'isThrifty'>[] {
  const { classes, model } = compiled;
  const count = classes.reduce((sum, { pods }) => sum + pods.length, 0);
  const blind = { rank: AS_THEY_ARE, isThrifty: false };
  // One node can hardly be improved upon by another order.
  if (count > MAX_PODS_REORDERED || planned.length < 2) return [blind];
  const pools = (podClass: PodClass): number =>
    model.pools.filter(({ index }) =>
      podClass.variants.some((variant) => fit.startsOf(podClass, variant, index).length > 0),
    ).length;
  const ranks: Rank[] = [
    AS_THEY_ARE,
    (podClass) => (isBound(podClass) ? 0 : 1),
    (podClass) => pools(podClass) * 2 + (isBound(podClass) ? 0 : 1),
    ({ id }) => -id,
  ];
  return [blind, ...ranks.map((rank) => ({ rank, isThrifty: true }))];
}

/** By its own rules, not only by those of others. */
function isBound({ variants, shape }: PodClass): boolean {
  return (
    (shape.volumes?.alternatives.length ?? 0) > 0 ||
    variants.some(
      ({ domain, hostAffinity, hostLimits, requirementId }) =>
        requirementId !== 0 || domain.length + hostAffinity.length + hostLimits.length > 0,
    )
  );
}

type Rank = SearchMode['rank'];
type ZonalMode = Pick<SearchMode, 'staysZonal' | 'avoidsReserved'>;

function cheapestPlan(model: Model, overlay: Overlay, options: SolveOptions, mode: ZonalMode): PodPlan {
  const packed = planOnce(model, overlay, options, { ...mode, isExact: false, isThrifty: false, rank: AS_THEY_ARE });
  if (packed.planned.length === 0 || overlay.pods.length > MAX_PODS_TWICE) return packed;
  const { classes } = packed.compiled;
  // With wishes a cheaper plan may only be one that grants fewer.
  const hasWishes = classes.some(({ variants, shape }) => variants.length > shape.terms.length);
  const isRelated = classes.some(({ variants }) => variants.some(({ pinKeys }) => pinKeys.length > 0));
  if (hasWishes || (!isRelated && model.pools.length === 1)) return packed;
  let best = packed;
  for (const search of exactSearches(packed)) {
    const exact = planOnce(model, overlay, options, { ...mode, ...search, isExact: true });
    const priority = comparePriority(best, exact);
    if (priority > 0 || (priority === 0 && planCost(exact) < planCost(best) - 1e-9)) best = exact;
  }
  return best;
}

function toSolution(
  plan: PodPlan,
  unplaced: readonly { pod: Pod; reason: UnplacedReason }[],
  { explainChoices = false, outcomeOnly = false }: SolveOptions,
): Solution {
  const { compiled, rooms, fit, planned, searchRounds } = plan;
  const { nodes, rank } = compiled.model.existing;
  return {
    onExisting: [...rooms.placed]
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

/** By group: how many of its members must find a place. Without a number all that wait must. */
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
  // The last by name gives up first: what it leaves free may save the others.
  const [last] = broken.sort(([left], [right]) => (left < right ? 1 : -1));
  if (last === undefined) return new Map();
  const [group, placed] = last;
  return new Map([[group, { kind: 'group', group, placeable: placed, needed: needed.get(group) ?? 0 }]]);
}
