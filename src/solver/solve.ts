/**
 * Places pods at least cost: on machines that are there, then on new ones. Pure: the same question has the same
 * answer, whatever the order of its lists.
 */
import { podKey } from '../pods/podKey.ts';
import type { Pod } from '../api/kinds.ts';
import { lowerBound } from './bound.ts';
import { Attempt, type SearchMode } from './attempt.ts';
import { refusalReason } from './refusal.ts';
import { Model } from './model/model.ts';
import { GROUP_MIN_ANNOTATION, podGroup } from './model/podShape.ts';
import type { Overlay, Problem, Solution, SolveOptions, UnplacedReason } from './problem.ts';
import { suggestChanges } from './smallestChange.ts';

/** Compiles the problem and answers it. Who has many questions about one snapshot makes a `Model` and uses `ask`. */
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
    const attempt = bestAttempt(model, { ...overlay, pods }, options, avoidsReserved);
    if (attempt.missed.length > 0) {
      if (avoidsReserved) {
        unplaced.push(...attempt.missed);
        const missed = new Set(attempt.missed.map(({ pod }) => pod));
        pods = pods.filter((pod) => !missed.has(pod));
      }
      avoidsReserved = true;
      continue;
    }
    const failed = attempt.unplacedPods();
    const broken = brokenGroups(groups, running, pods, failed);
    if (broken.size === 0) {
      for (const { pod, podClass, reason } of failed) {
        unplaced.push({ pod, reason: reason ?? refusalReason(attempt, podClass) });
      }
      const solution = toSolution(attempt, unplaced);
      return options.suggestChanges === true ? suggestChanges(model, overlay, options, solution, ask) : solution;
    }
    for (const pod of pods) {
      const reason = broken.get(podGroup(pod) ?? '');
      if (reason !== undefined) unplaced.push({ pod, reason });
    }
    pods = pods.filter((pod) => !broken.has(podGroup(pod) ?? ''));
  }
}

/** Up to here plain first-fit is tried, too, where pods have relations that the packing only approximates. */
const MAX_PODS_TWICE = 400;

/** Machines in no zone may be left out at first; when pods wait because of that, they are not. */
function bestAttempt(model: Model, overlay: Overlay, options: SolveOptions, avoidsReserved: boolean): Attempt {
  const attempt = cheapestAttempt(model, overlay, options, { staysZonal: true, avoidsReserved });
  if (!attempt.compiled.isKeptZonal || attempt.unplacedPods().length === 0) return attempt;
  const wider = cheapestAttempt(model, overlay, options, { staysZonal: false, avoidsReserved });
  return wider.unplacedPods().length < attempt.unplacedPods().length ? wider : attempt;
}

function cheapestAttempt(
  model: Model,
  overlay: Overlay,
  options: SolveOptions,
  mode: Omit<SearchMode, 'isExact'>,
): Attempt {
  const packed = new Attempt(model, overlay, options, { ...mode, isExact: false });
  if (!packed.isPacked || packed.planned.length === 0 || overlay.pods.length > MAX_PODS_TWICE) return packed;
  const { classes } = packed.compiled;
  // With wishes a cheaper plan may only be one that grants fewer.
  const hasWishes = classes.some(({ variants }) => variants.length > 1);
  const isRelated = classes.some(({ variants }) => variants.some(({ pinKeys }) => pinKeys.length > 0));
  if (hasWishes || (!isRelated && model.pools.length === 1)) return packed;
  const exact = new Attempt(model, overlay, options, { ...mode, isExact: true });
  return packed.comparePriority(exact) > 0 || (packed.comparePriority(exact) === 0 && exact.cost < packed.cost - 1e-9)
    ? exact
    : packed;
}

function toSolution(attempt: Attempt, unplaced: { pod: Pod; reason: UnplacedReason }[]): Solution {
  const { compiled, rooms, fit, planned } = attempt;
  const { nodes } = compiled.model.existing;
  return {
    onExisting: [...rooms.placed]
      .sort(([left], [right]) => left - right)
      .map(([node, pods]) => ({ node: nodes[node]!.name, pods })),
    newNodes: attempt.machines(),
    unplaced: unplaced.sort((left, right) => (podKey(left.pod) < podKey(right.pod) ? -1 : 1)),
    pricePerHour: planned.reduce((sum, { price }) => sum + price, 0),
    lowerBound: lowerBound(compiled, fit, planned),
    searchRounds: attempt.searchRounds,
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
