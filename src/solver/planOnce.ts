/**
 * One search for a plan: the fast path decides class by class and packs, the exact path places the rest pod by pod.
 * When limits break an assumption of the fast path, all pods take the exact path.
 */
import type { Pod } from '../api/kinds.ts';
import { emptyDraft, type Draft, type Question, type SearchMode } from './draft.ts';
import { compileDemand, type CompiledDemand } from './model/compiledDemand.ts';
import type { CompiledPool } from './model/compiledPool.ts';
import type { Model } from './model/model.ts';
import type { PodClass } from './model/podClass.ts';
import { packAll } from './packAll.ts';
import { TypeChoice, type PackingOptions } from './packing/typeChoice.ts';
import { placeExactly } from './placeExactly.ts';
import { isSequential, type PendingPods } from './placement/assignment.ts';
import type { Domains } from './placement/domains.ts';
import type { ExistingPlacement } from './placement/existingPlacement.ts';
import type { OpenNode } from './placement/openNode.ts';
import { PoolFit, stepsDown } from './placement/poolFit.ts';
import { swapByPriority } from './placement/swapByPriority.ts';
import type { Overlay, SolveOptions } from './problem.ts';
import type { UnplacedReason } from './reasons.ts';
import { holdsInOrder, sortByPods } from './replay.ts';
import { takeReservations } from './reservations.ts';

/** Place of every pod of the demand after one search. */
export interface PodPlan {
  readonly model: Model;
  readonly compiled: CompiledDemand;
  readonly domains: Domains;
  readonly onExisting: ExistingPlacement;
  readonly fit: PoolFit;
  readonly planned: readonly OpenNode[];
  readonly waiting: readonly PendingPods[];
  /** By pool: limits left by the planned nodes. */
  readonly limitLeft: readonly (Float64Array | undefined)[];
  readonly packing: PackingOptions;
  /** Whether the scheduler can bind the pods as planned, taking them by priority. Computed on first use. */
  readonly isInOrder: () => boolean;
  /** The plan was made class by class. */
  readonly isPacked: boolean;
  readonly searchRounds: number;
  readonly deferrals: ReadonlyMap<PendingPods, UnplacedReason>;
  /** Pods that were counted on reserved capacity which is used up, after others had been placed accordingly. */
  readonly missed: readonly { readonly pod: Pod; readonly reason: UnplacedReason }[];
}

export function questionOf(model: Model, overlay: Overlay, options: SolveOptions, staysZonal: boolean): Question {
  const compiled = compileDemand(model, overlay, options.preferencePolicy ?? 'Respect', staysZonal);
  return { compiled, fit: new PoolFit(compiled), packing: packingOptions(overlay, options), options };
}

/** `mostDollars`: once its nodes cost more per hour, the exact path leaves the remaining pods waiting. */
export function planOnce(question: Question, mode: SearchMode, mostDollars = Number.POSITIVE_INFINITY): PodPlan {
  const { options, packing } = question;
  const { model } = question.compiled;
  let draft = emptyDraft(question, mode);
  const rounds = mode.isExact ? undefined : packAll(draft, options);
  if (rounds !== undefined) placeExactly(draft, mode, isSequential, mostDollars);
  else if (!mode.isExact) draft = emptyDraft(question, mode);
  placeExactly(draft, mode, () => true, mostDollars);
  const { compiled, domains, onExisting, fit, waiting, planned, limitLeft } = draft;
  const { stranded, missed, deferred } = takeReservations(planned, model, options.reservedCapacity !== 'Fallback');
  waiting.push(...stranded, ...deferred.map((each) => each.waiting));
  swapByPriority(waiting, planned, onExisting.placed, compiled.classes);
  // Packing opens nodes in an order unrelated to the order of the pods.
  if (rounds !== undefined) sortByPods(compiled, planned);
  return {
    model,
    compiled,
    domains,
    onExisting,
    fit,
    planned,
    waiting,
    limitLeft,
    packing,
    isInOrder: once(() =>
      holdsInOrder(question.compiled, planned, onExisting.placed, mode.rank, isPackedInOrder(rounds, draft)),
    ),
    isPacked: rounds !== undefined,
    searchRounds: rounds ?? 0,
    deferrals: new Map(deferred.map((each) => [each.waiting, each.reason])),
    missed: missed.flatMap((each) => each.waiting.pods.map((pod) => ({ pod, reason: each.reason }))),
  };
}

function once(find: () => boolean): () => boolean {
  let known: boolean | undefined;
  return () => (known ??= find());
}

/** Packed class by class, in order of priority, with nothing moved afterwards. */
function isPackedInOrder(rounds: number | undefined, { compiled, waiting }: Draft): boolean {
  if (rounds === undefined || compiled.isCrossed) return false;
  return !compiled.classes.some(isSequential) && waiting.every(({ pods }) => pods.length === 0);
}

/** Dollars per hour, including the overhead per node from the options. */
export function planCost({ planned, packing }: PodPlan): number {
  return planned.reduce((sum, { price }) => sum + price + packing.nodeOverheadCost, 0);
}

/** How many preferences of the placed pods the plan does not satisfy. */
export function wishesDropped({ planned, onExisting }: PodPlan): number {
  let dropped = onExisting.wishesDropped;
  for (const { entries } of planned) {
    for (const { podClass, variant, pods } of entries) dropped += stepsDown(podClass, variant) * pods.length;
  }
  return dropped;
}

/** Positive when `left` leaves more pods waiting at the highest priority at which the plans differ. */
export function comparePriority(left: PodPlan, right: PodPlan): number {
  const waiting = new Map<number, number>();
  const count = (plan: PodPlan, sign: number): void => {
    for (const { podClass, pods } of plan.waiting) {
      const { priority } = podClass.shape;
      waiting.set(priority, (waiting.get(priority) ?? 0) + sign * pods.length);
    }
  };
  count(left, 1);
  count(right, -1);
  const tiers = [...waiting].sort(([one], [other]) => other - one);
  return tiers.find(([, difference]) => difference !== 0)?.[1] ?? 0;
}

/** With a reason where the plan itself is the reason. */
export function unplacedPods({
  waiting,
  deferrals,
}: PodPlan): { pod: Pod; podClass: PodClass; reason: UnplacedReason | undefined }[] {
  return waiting.flatMap((entry) => {
    const reason = deferrals.get(entry);
    return entry.pods.map((pod) => ({ pod, podClass: entry.podClass, reason }));
  });
}

/** Tells which types of the pool hold a given load. */
export function holderOf({ model, packing }: PodPlan, pool: CompiledPool): TypeChoice {
  return new TypeChoice(pool, model.states, model.table.size, packing);
}

function packingOptions({ pods }: Overlay, options: SolveOptions): PackingOptions {
  const share = options.maxPodsSharePerNode ?? 1;
  return {
    nodeOverheadCost: options.nodeOverheadCost ?? 0,
    maxPodsPerNode: share < 1 ? Math.max(1, Math.ceil(share * pods.length)) : Number.POSITIVE_INFINITY,
    strictMinValues: options.minValuesPolicy !== 'BestEffort',
  };
}

/** Whether a pod of the class could be placed if it came first, ignoring its relations to other pods. */
export function mightBePlaced({ compiled, fit }: PodPlan, podClass: PodClass): boolean {
  if (podClass.shape.unsupported !== undefined || podClass.unknownResource !== undefined) return false;
  const { existing, pools } = compiled.model;
  return podClass.variants.some((variant) => {
    const { requirements, toleratesPreferNoSchedule } = variant.rung;
    const { tolerations } = podClass.shape;
    return (
      pools.some(({ index }) => fit.startsOf(podClass, variant, index).length > 0) ||
      existing.admitting(
        requirements,
        variant.requirementId,
        tolerations,
        podClass.tolerationsKey,
        toleratesPreferNoSchedule,
      ).nodes.length > 0
    );
  });
}
