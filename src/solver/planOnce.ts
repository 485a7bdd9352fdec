/**
 * One search for a plan: the quick path decides class by class and packs, the exact path places the rest pod by pod.
 * When limits break what the quick path assumed, all pods take the exact path.
 */
import type { Pod } from '../api/kinds.ts';
import type { HostPort } from '../pods/hostPorts.ts';
import { takeFromLimits, type CompiledPool } from './model/compiledPool.ts';
import { compileDemand, withoutPlacements, type CompiledDemand } from './model/compiledDemand.ts';
import type { PodClass } from './model/podClass.ts';
import type { Model } from './model/model.ts';
import type { Bin } from './packing/bin.ts';
import { demandOf, type Demand } from './packing/demand.ts';
import { Improver } from './packing/improve.ts';
import type { Item } from './packing/item.ts';
import { packPool } from './packing/packPool.ts';
import { fillReserved } from './packing/reservedFirst.ts';
import { TypeChoice, type PackingOptions } from './packing/typeChoice.ts';
import { Assignment, isSequential, type PendingPods } from './placement/assignment.ts';
import { Domains, type DomainMode } from './placement/domains.ts';
import { ExistingPlacement } from './placement/existingPlacement.ts';
import { followersOf, NO_FOLLOWERS } from './placement/followers.ts';
import type { Growth, OpenNode } from './placement/openNode.ts';
import { swapByPriority } from './placement/swapByPriority.ts';
import { PoolFit, stepsDown } from './placement/poolFit.ts';
import { Sequential } from './placement/sequential.ts';
import { holdsInOrder, sortByPods } from './replay.ts';
import { reservedUnits, takeReservations } from './reservations.ts';
import type { Overlay, SolveOptions } from './problem.ts';
import type { UnplacedReason } from './reasons.ts';

const DEFAULT_ROUNDS = 400;

export interface SearchMode extends DomainMode {
  /** All pods take the exact path: plain first-fit-decreasing with every rule. */
  readonly isExact: boolean;
  /** How the exact path chooses between planned nodes and new ones. */
  readonly growth: Growth;
  /** By class, where it chooses otherwise. */
  readonly growthOf: ReadonlyMap<number, Growth>;
  /** The exact path opens nodes where pods that must stand beside the first one may come too. */
  readonly leads: boolean;
  /** The exact path goes pod by pod through classes of equal rank, by name, and not class by class. */
  readonly interleaves: boolean;
  /** Lower ranks come first; among equals higher priority, then the larger. */
  readonly rank: (podClass: PodClass) => number;
}

/** Where every pod of the demand stands after one search. */
export interface PodPlan {
  readonly model: Model;
  readonly compiled: CompiledDemand;
  readonly domains: Domains;
  readonly onExisting: ExistingPlacement;
  readonly fit: PoolFit;
  readonly planned: readonly OpenNode[];
  readonly waiting: readonly PendingPods[];
  /** By pool: what the planned nodes leave of its limits. */
  readonly limitLeft: readonly (Float64Array | undefined)[];
  readonly packing: PackingOptions;
  /** The scheduler can bind the pods as planned, taking them by priority. Found out when it is first asked. */
  readonly isInOrder: () => boolean;
  /** The plan was made class by class. */
  readonly isPacked: boolean;
  readonly searchRounds: number;
  readonly deferrals: ReadonlyMap<PendingPods, UnplacedReason>;
  /** Pods that were promised reserved capacity which is used up, after others had been placed around them. */
  readonly missed: readonly { readonly pod: Pod; readonly reason: UnplacedReason }[];
}

/** What one search works on; the lists change as pods find places. */
interface Draft {
  readonly compiled: CompiledDemand;
  readonly domains: Domains;
  readonly onExisting: ExistingPlacement;
  readonly fit: PoolFit;
  readonly waiting: PendingPods[];
  readonly planned: OpenNode[];
  readonly limitLeft: readonly (Float64Array | undefined)[];
  readonly packing: PackingOptions;
}

/** A question as all searches share it. */
export interface Question {
  readonly compiled: CompiledDemand;
  readonly fit: PoolFit;
  readonly packing: PackingOptions;
  readonly options: SolveOptions;
}

export function questionOf(model: Model, overlay: Overlay, options: SolveOptions, staysZonal: boolean): Question {
  const compiled = compileDemand(model, overlay, options.preferencePolicy ?? 'Respect', staysZonal);
  return { compiled, fit: new PoolFit(compiled), packing: packingOptions(overlay, options), options };
}

/** `mostDollars`: once its nodes cost more per hour, the exact path leaves the other pods waiting. */
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
  // What packing opened first says nothing about which of its pods came first.
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
    isInOrder: once(
      () => isPackedInOrder(rounds, draft) || holdsInOrder(question.compiled, planned, onExisting.placed, mode.rank),
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

/** Class by class, and nothing was moved afterwards: classes come by priority. */
function isPackedInOrder(rounds: number | undefined, { compiled, waiting }: Draft): boolean {
  if (rounds === undefined || compiled.isCrossed) return false;
  return !compiled.classes.some(isSequential) && waiting.every(({ pods }) => pods.length === 0);
}

/** Dollars per hour, with the overhead that the options put on every node. */
export function planCost({ planned, packing }: PodPlan): number {
  return planned.reduce((sum, { price }) => sum + price + packing.nodeOverheadCost, 0);
}

/** How many wishes of the placed pods the plan does not grant. */
export function wishesDropped({ planned, onExisting }: PodPlan): number {
  let dropped = onExisting.wishesDropped;
  for (const { entries } of planned) {
    for (const { podClass, variant, pods } of entries) dropped += stepsDown(podClass, variant) * pods.length;
  }
  return dropped;
}

/** Positive when more pods of the highest priority at which the plans differ wait on the left. */
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

/** With the reason where the plan itself is the reason. */
export function unplacedPods({
  waiting,
  deferrals,
}: PodPlan): { pod: Pod; podClass: PodClass; reason: UnplacedReason | undefined }[] {
  return waiting.flatMap((entry) => {
    const reason = deferrals.get(entry);
    return entry.pods.map((pod) => ({ pod, podClass: entry.podClass, reason }));
  });
}

/** Answers which types of the pool hold a given load. */
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

function emptyDraft({ compiled: shared, fit, packing }: Question, mode: SearchMode): Draft {
  const compiled = withoutPlacements(shared);
  const domains = new Domains(compiled, mode);
  return {
    compiled,
    domains,
    onExisting: new ExistingPlacement(compiled, domains),
    fit,
    // Higher priority first; among equals the larger.
    waiting: [...compiled.classes]
      .sort(
        (left, right) =>
          mode.rank(left) - mode.rank(right) || right.shape.priority - left.shape.priority || left.id - right.id,
      )
      .map((podClass) => ({ podClass, pods: Array.from(podClass.pods) })),
    planned: [],
    limitLeft: compiled.model.limitsLeft(),
    packing,
  };
}

/** Packs what can be decided class by class. The rounds of improvement; undefined when the result cannot stand. */
function packAll(draft: Draft, options: SolveOptions): number | undefined {
  const { compiled, domains, onExisting, fit, packing, planned, limitLeft } = draft;
  const { model } = compiled;
  const able = draft.waiting.filter(({ podClass }) => podClass.shape.unsupported === undefined);
  const assignment = new Assignment(compiled, domains, onExisting, fit);
  assignment.run(able, 0);
  const { timeBudgetMs, now, searchRounds = DEFAULT_ROUNDS } = options;
  const improver = new Improver({
    rounds: searchRounds,
    now,
    deadline: now === undefined || timeBudgetMs === undefined ? Number.POSITIVE_INFINITY : now() + timeBudgetMs,
  });
  // Pods with affinity over hostnames may want to join later, and a reserved node does not grow.
  const reserved = compiled.classes.some(isSequential) ? undefined : reservedUnits(model);
  for (const pool of model.pools) {
    const items = assignment.items[pool.index] ?? [];
    if (items.length === 0) continue;
    items.sort((left, right) => left.podClass.id - right.podClass.id || model.states.compare(left.state, right.state));
    const lists = items.map((item) => assignment.podsOf.get(item) ?? []);
    const { rest, pods } =
      reserved === undefined ? { rest: items, pods: lists } : openReserved(draft, pool, items, lists, reserved);
    const demand = demandOf(pool, model.states, rest, model.table.size, packing);
    const { bins, left } = packPool(demand, limitLeft[pool.index], improver);
    const next = new Int32Array(rest.length);
    for (const bin of bins) planned.push(openNode(bin, demand, pods, next, limitLeft));
    if (left.every((count) => count === 0)) continue;
    // Domains were counted for pods that found no node there: what was built on those counts may be wrong.
    if (rest.some(({ variant }, item) => (left[item] ?? 0) > 0 && variant.domainAdds.length > 0)) return undefined;
    for (const entry of able) {
      rest.forEach((item, index) => {
        if (item.podClass !== entry.podClass || (left[index] ?? 0) === 0) return;
        entry.pods.push(...(pods[index] ?? []).slice(next[index]));
      });
    }
    assignment.run(able, pool.index + 1);
  }
  return improver.rounds;
}

/** Plans reserved nodes; the items that they leave, with the pods of each. */
function openReserved(
  { compiled, planned, limitLeft, packing }: Draft,
  pool: CompiledPool,
  items: readonly Item[],
  lists: readonly (readonly Pod[])[],
  units: Map<string, number>,
): { rest: readonly Item[]; pods: readonly (readonly Pod[])[] } {
  if (pool.reservations.length === 0) return { rest: items, pods: lists };
  const { states, table } = compiled.model;
  const demand = demandOf(pool, states, items, table.size, packing);
  const next = new Int32Array(items.length);
  const left = Int32Array.from(items, ({ count }) => count);
  const bins = fillReserved(demand, units, left, limitLeft[pool.index]?.slice());
  for (const bin of bins) planned.push(openNode(bin, demand, lists, next, limitLeft));
  const rest: Item[] = [];
  const pods: (readonly Pod[])[] = [];
  items.forEach((item, at) => {
    const count = left[at] ?? 0;
    if (count === 0) return;
    rest.push({ ...item, count });
    pods.push((lists[at] ?? []).slice(next[at]));
  });
  return { rest, pods };
}

/** Takes the bin's pods from the lists, each from its `next` on, and what the node needs from the limits. */
function openNode(
  bin: Bin,
  { items, pool }: Demand,
  pods: readonly (readonly Pod[])[],
  next: Int32Array,
  limitLeft: Draft['limitLeft'],
): OpenNode {
  const entries: OpenNode['entries'] = [];
  const ports: HostPort[] = [];
  for (let at = 0; at < bin.items.length; at++) {
    const index = bin.items[at] ?? 0;
    const item = items[index];
    const list = pods[index];
    if (item === undefined || list === undefined) throw new RangeError(`bin names item ${index} of ${items.length}`);
    const from = next[index] ?? 0;
    const to = from + (bin.counts[at] ?? 0);
    next[index] = to;
    entries.push({ podClass: item.podClass, variant: item.variant, pods: list.slice(from, to) });
    for (const port of item.podClass.shape.hostPorts) ports.push(port);
  }
  takeFromLimits(limitLeft, pool, bin.limitNeed);
  return {
    pool,
    state: bin.state,
    type: bin.type,
    price: bin.price,
    reservation: bin.reservation,
    limitNeed: bin.limitNeed,
    used: bin.used.slice(),
    entries,
    ports,
    host: undefined,
  };
}

function placeExactly(
  draft: Draft,
  mode: SearchMode,
  includes: (podClass: PodClass) => boolean,
  mostDollars: number,
): void {
  const { compiled, domains, onExisting, fit, planned, limitLeft, packing } = draft;
  const open = draft.waiting.filter(
    ({ podClass, pods }) => pods.length > 0 && podClass.shape.unsupported === undefined && includes(podClass),
  );
  if (open.length === 0) return;
  const { growth, growthOf, leads, interleaves } = mode;
  const growsAs = growthOf.size === 0 ? () => growth : ({ id }: PodClass) => growthOf.get(id) ?? growth;
  const followers = leads ? followersOf(compiled.classes) : NO_FOLLOWERS;
  const sequential = new Sequential(
    compiled,
    domains,
    onExisting,
    fit,
    planned,
    limitLeft,
    packing,
    growsAs,
    followers,
    // Nodes that start large are dear until they shrink.
    growth === 'largest' ? Number.POSITIVE_INFINITY : mostDollars,
  );
  const placeAll = interleaves ? placePodByPod : placeClassByClass;
  placeAll(sequential, open, mode);
  if (growth !== 'largest') return;
  sequential.shrink();
  // Limits have room for more once nodes are as small as they can be.
  placeAll(sequential, open, mode);
  sequential.shrink();
}

function placeClassByClass(sequential: Sequential, open: readonly PendingPods[]): void {
  let hopeful = open;
  for (let progress = true; progress; hopeful = hopeful.filter(({ podClass }) => mayFindCompany(podClass))) {
    progress = false;
    for (const { podClass, pods } of hopeful) {
      const refused = pods.findIndex((pod) => !sequential.place(podClass, pod));
      const done = refused < 0 ? pods.length : refused;
      pods.splice(0, done);
      progress ||= done > 0;
    }
  }
}

function placePodByPod(sequential: Sequential, open: readonly PendingPods[], { rank }: SearchMode): void {
  let hopeful = open
    .flatMap(({ podClass, pods }) => pods.map((pod) => ({ podClass, pod })))
    .sort((left, right) => rank(left.podClass) - rank(right.podClass) || compareNames(left.pod, right.pod));
  const placed = new Set<Pod>();
  for (let before = -1; placed.size > before; hopeful = hopeful.filter(({ podClass }) => mayFindCompany(podClass))) {
    before = placed.size;
    hopeful = hopeful.filter(({ podClass, pod }) => {
      const isPlaced = sequential.place(podClass, pod);
      if (isPlaced) placed.add(pod);
      return !isPlaced;
    });
  }
  for (const { pods } of open) {
    const left = pods.filter((pod) => !placed.has(pod));
    pods.splice(0, pods.length, ...left);
  }
}

function compareNames({ metadata: { name: left } }: Pod, { metadata: { name: right } }: Pod): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

/** Whether a pod of the class would have a place if it came first, as far as can be told without its relations. */
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

/** Room only shrinks; but pods placed later may satisfy an affinity, or even out a spread. */
function mayFindCompany({ variants }: PodClass): boolean {
  return variants.some(({ domain, hostAffinity }) => domain.length > 0 || hostAffinity.length > 0);
}
