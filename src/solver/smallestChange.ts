/**
 * The smallest change that would place a pod, for each kind of unplaced pod where one change suffices. Every suggestion
 * was verified by solving with it.
 */
import type { Pod } from '../api/kinds.ts';
import { podKey } from '../pods/podKey.ts';
import { applyEdits, type Edit } from './edit.ts';
import { editsFor, limitsFor, type PodSpecChange } from './edits.ts';
import { Model } from './model/model.ts';
import { loadKey, rulesKey } from './model/podShape.ts';
import type { Overlay, PoolOffer, Solution, SolveOptions } from './problem.ts';
import type { PoolRefusal, SmallestChange, UnplacedReason } from './reasons.ts';

type Ask = (model: Model, overlay: Overlay, options: SolveOptions) => Solution;

/** Kinds of pods to examine, and changes to try for each. */
const MAX_KINDS = 25;
const MAX_TRIES = 24;
/** Rounds for refusals hidden behind other refusals. */
const MAX_ROUNDS = 4;
/** Up to this many pods, all pods are placed again with each change; with more, only the waiting ones. */
const MAX_PODS = 300;

export function suggestChanges(
  model: Model,
  overlay: Overlay,
  options: SolveOptions,
  solution: Solution,
  ask: Ask,
): Solution {
  const { snapshot } = model;
  const { pools } = snapshot;
  const asked: Asked = {
    pools,
    overlay,
    options,
    solution,
    ask: (again, how, offers) => ask(offers === pools ? model : Model.of({ ...snapshot, pools: offers }), again, how),
  };
  const known = new Map<string, SmallestChange | undefined>();
  const byKey = new Map(overlay.pods.map((pod) => [podKey(pod), pod]));
  const unplaced = solution.unplaced.map((entry) => {
    const { reason } = entry;
    const pod = byKey.get(entry.pod);
    if (reason.kind !== 'refused' || pod === undefined) return entry;
    const key = `${pod.spec?.priority ?? 0}\n${loadKey(pod)}\n${rulesKey(pod, snapshot)}`;
    if (!known.has(key) && known.size < MAX_KINDS) {
      const edits = editsFor(pools, pod, reason, solution, 'any').slice(0, MAX_TRIES);
      const [fix] = singleFixes(asked, pod, edits, 1);
      known.set(key, fix?.[0]?.change);
    }
    const smallestChange = known.get(key);
    return smallestChange === undefined ? entry : { ...entry, reason: { ...reason, smallestChange } };
  });
  return { ...solution, unplaced };
}

/** The question that left the pod unplaced, and its answer. */
export interface Asked {
  readonly pools: readonly PoolOffer[];
  readonly overlay: Overlay;
  readonly options: SolveOptions;
  readonly solution: Solution;
  /** Asks again with other pods, or with pools that differ from `pools` only in their spec. */
  ask(overlay: Overlay, options: SolveOptions, pools: readonly PoolOffer[]): Solution;
}

/** At most `most` edits, each of which alone places the pod. */
function singleFixes(asked: Asked, pod: Pod, edits: readonly Edit[], most: number): (readonly Edit[])[] {
  const fixes: (readonly Edit[])[] = [];
  for (const edit of edits) {
    if (refusalWith(asked, pod, [edit]) === undefined) fixes.push([edit]);
    if (fixes.length >= most) break;
  }
  return fixes;
}

/**
 * At most `most` ways to place the pod, each a list of edits made together: single edits where one suffices, otherwise
 * the fewest found. Empty when none was found.
 */
export function findFixes(
  asked: Asked,
  pod: Pod,
  reason: UnplacedReason,
  most: number,
  podSpec: PodSpecChange,
): (readonly Edit[])[] {
  if (reason.kind !== 'refused') return [];
  const edits = candidates(asked, pod, reason, podSpec);
  const single = [...wholeLimits(asked, pod, edits), ...singleFixes(asked, pod, edits.filter(isNoLimit), most)];
  if (single.length > 0) return single.slice(0, most);
  const together = fewestTogether(asked, pod, edits, podSpec);
  return together === undefined ? [] : [together];
}

const isNoLimit = ({ change }: Edit): boolean => change.kind !== 'limit';

/** Raises all limits of one pool together. */
function wholeLimits(asked: Asked, pod: Pod, edits: readonly Edit[]): (readonly Edit[])[] {
  const byPool = new Map<string, Edit[]>();
  for (const edit of edits) {
    if (edit.change.kind !== 'limit') continue;
    byPool.set(edit.change.pool, [...(byPool.get(edit.change.pool) ?? []), edit]);
  }
  return [...byPool.values()].filter((group) => refusalWith(asked, pod, group) === undefined);
}

/** Edits for the refusal. Limits are raised for all waiting pods, so that other pods do not take the gain. */
function candidates(
  asked: Asked,
  pod: Pod,
  reason: UnplacedReason & { readonly kind: 'refused' },
  podSpec: PodSpecChange,
): readonly Edit[] {
  const edits = editsFor(asked.pools, pod, reason, asked.solution, podSpec);
  const limited = reason.pools.filter(isOfLimits).map(({ pool }) => pool);
  if (limited.length === 0) return edits.slice(0, MAX_TRIES);
  const others = edits.filter(isNoLimit);
  const at = edits.findIndex(({ change }) => change.kind === 'limit');
  const ample = limited.flatMap((pool) => amplerLimits(asked, pod, pool));
  return others.toSpliced(at < 0 ? others.length : at, 0, ...ample).slice(0, MAX_TRIES);
}

function amplerLimits(asked: Asked, pod: Pod, name: string): readonly Edit[] {
  const { overlay, options, pools } = asked;
  const own = pools.find(({ pool }) => pool.metadata.name === name);
  if (own === undefined) return [];
  const others = overlay.pods.length <= MAX_PODS ? overlay.pods.filter((each) => podKey(each) !== podKey(pod)) : [];
  const quiet: SolveOptions = { ...options, searchRounds: 0, suggestChanges: false, explainChoices: false };
  const unlimited = pools.map((offer) => (offer === own ? withoutLimits(offer) : offer));
  const isPlaced = !asked.ask({ ...overlay, pods: [...others, pod] }, quiet, unlimited).unplaced.some(isOf(pod));
  // Without limits, the pool may still have too few types for minValues: lowering it is another edit.
  const free = isPlaced ? unlimited : unlimited.map((offer, at) => (pools[at] === own ? withAnyTypes(offer) : offer));
  const planned = (pods: readonly Pod[]) => asked.ask({ ...overlay, pods }, quiet, free).plannedNodes;
  const together = limitsFor(own, planned([...others, pod]));
  const reason = refusalWith(asked, pod, together);
  const isEnough = reason?.kind !== 'refused' || !reason.pools.some((each) => each.pool === name && isOfLimits(each));
  // Otherwise the other pods may get their own nodes before this pod is placed.
  return isEnough ? together : limitsFor(own, [...planned(others), ...planned([pod])]);
}

const isOf =
  (pod: Pod) =>
  (each: { readonly pod: string }): boolean =>
    each.pod === podKey(pod);

function withoutLimits(offer: PoolOffer): PoolOffer {
  const { limits: _, ...spec } = offer.pool.spec;
  return { ...offer, pool: { ...offer.pool, spec } };
}

function withAnyTypes(offer: PoolOffer): PoolOffer {
  const { spec } = offer.pool;
  const requirements = spec.template.spec.requirements.map((each) => {
    const { minValues: _, ...rest } = each;
    return rest;
  });
  const template = { ...spec.template, spec: { ...spec.template.spec, requirements } };
  return { ...offer, pool: { ...offer.pool, spec: { ...spec, template } } };
}

/** Types excluded by limits do not count for minValues. */
const isOfLimits = ({ stage }: PoolRefusal): boolean => stage === 'limits' || stage === 'min-values';

/** One refusal may hide the next: each round applies all edits so far and adds those for the next refusal. */
function fewestTogether(
  asked: Asked,
  pod: Pod,
  first: readonly Edit[],
  podSpec: PodSpecChange,
): readonly Edit[] | undefined {
  let kept = withoutRivals(first);
  if (kept.length === 0) return undefined;
  for (let round = 0; ; round++) {
    const reason = refusalWith(asked, pod, kept);
    if (reason === undefined) break;
    if (round === MAX_ROUNDS || reason.kind !== 'refused') return undefined;
    // Without earlier limit edits: those of this round replace them.
    const subject = applyEdits(kept.filter(isNoLimit), { pod, pools: asked.pools });
    const more = candidates({ ...asked, pools: subject.pools }, subject.pod, reason, podSpec);
    const wider = withoutRivals([...kept, ...more]);
    if (textOf(wider) === textOf(kept)) return undefined;
    kept = wider;
  }
  for (const edit of [...kept].reverse()) {
    const fewer = kept.filter((each) => !belongTogether(each, edit));
    if (fewer.length > 0 && refusalWith(asked, pod, fewer) === undefined) kept = fewer;
  }
  return withAmpleLimits(asked, pod, kept);
}

/** Limits were found before the pod could use the pool: with the other edits the pod needs a share of them too. */
function withAmpleLimits(asked: Asked, pod: Pod, edits: readonly Edit[]): readonly Edit[] {
  const limited = new Set(edits.flatMap(({ change }) => (change.kind === 'limit' ? [change.pool] : [])));
  const others = edits.filter(isNoLimit);
  if (limited.size === 0 || others.length === 0) return edits;
  const subject = applyEdits(others, { pod, pools: asked.pools });
  const ample = [...limited].flatMap((pool) => amplerLimits({ ...asked, pools: subject.pools }, subject.pod, pool));
  const wider = [...others, ...ample];
  return refusalWith(asked, pod, wider) === undefined ? wider : edits;
}

const textOf = (edits: readonly Edit[]): string => JSON.stringify(edits.map(({ change }) => change));

/** Limits of one pool are kept or dropped together. */
function belongTogether(one: Edit, other: Edit): boolean {
  if (one.change.kind !== 'limit' || other.change.kind !== 'limit') return one === other;
  return one.change.pool === other.change.pool;
}

/** Of edits that set the same field differently, keeps the last, which goes furthest. */
function withoutRivals(edits: readonly Edit[]): readonly Edit[] {
  const byField = new Map<string, Edit>();
  for (const edit of edits) {
    const { change } = edit;
    if (change.kind === 'limit') byField.set(`limit ${change.pool} ${change.resource}`, edit);
    else if (change.kind === 'requests') byField.set('requests', edit);
    else if (change.kind === 'min-values') byField.set(`min-values ${change.pool} ${change.key}`, edit);
    else if (change.kind === 'pool-requirement') byField.set(`requirement ${change.pool} ${change.key}`, edit);
    else byField.set(JSON.stringify(change), edit);
  }
  return [...byField.values()];
}

/** The pod's refusal with the edits applied; undefined when it is placed. */
function refusalWith(asked: Asked, pod: Pod, edits: readonly Edit[]): UnplacedReason | undefined {
  const { overlay, options, pools } = asked;
  const subject = applyEdits(edits, { pod, pools });
  const quiet: SolveOptions = { ...options, searchRounds: 0, suggestChanges: false, explainChoices: false };
  const others = overlay.pods.length <= MAX_PODS ? overlay.pods.filter((other) => other !== pod) : [];
  const again = asked.ask({ ...overlay, pods: [...others, lastOf(subject.pod)] }, quiet, subject.pools);
  return again.unplaced.find((each) => each.pod === podKey(pod))?.reason;
}

/**
 * Moves the pod to the end: pods of equal priority may be placed in any order, so it must not depend on coming first.
 */
function lastOf(pod: Pod): Pod {
  return { ...pod, spec: { containers: [], ...pod.spec, priority: LOWEST_PRIORITY } };
}

const LOWEST_PRIORITY = -2_147_483_648;
