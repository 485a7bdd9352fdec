/**
 * The smallest change that would place a pod, for each kind of unplaced pod where one change is enough. Every suggestion
 * has been solved for: the pod does get a place with it.
 */
import type { Pod } from '../api/kinds.ts';
import { podKey } from '../pods/podKey.ts';
import { applyEdits, type Edit } from './edit.ts';
import { editsFor, type PodSpecChange } from './edits.ts';
import { Model } from './model/model.ts';
import { loadKey, rulesKey } from './model/podShape.ts';
import type { Overlay, PoolOffer, Solution, SolveOptions } from './problem.ts';
import type { SmallestChange, UnplacedReason } from './reasons.ts';

type Ask = (model: Model, overlay: Overlay, options: SolveOptions) => Solution;

/** Kinds of pods that are looked into, and changes tried for each. */
const MAX_KINDS = 25;
const MAX_TRIES = 24;
/** Refusals behind refusals that are looked into. */
const MAX_ROUNDS = 4;
/** Up to here all pods are placed again with each change; beyond, only those that wait. */
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
    ask: (again, how, offers) => ask(offers === pools ? model : new Model({ ...snapshot, pools: offers }), again, how),
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

/** The question that left the pod unplaced, with its answer. */
export interface Asked {
  readonly pools: readonly PoolOffer[];
  readonly overlay: Overlay;
  readonly options: SolveOptions;
  readonly solution: Solution;
  /** Asks the same again with other pods, or with pools that differ from `pools` in their spec only. */
  ask(overlay: Overlay, options: SolveOptions, pools: readonly PoolOffer[]): Solution;
}

/** At most `most` single edits each of which gives the pod a place. */
function singleFixes(asked: Asked, pod: Pod, edits: readonly Edit[], most: number): (readonly Edit[])[] {
  const fixes: (readonly Edit[])[] = [];
  for (const edit of edits) {
    if (refusalWith(asked, pod, [edit]) === undefined) fixes.push([edit]);
    if (fixes.length >= most) break;
  }
  return fixes;
}

/**
 * At most `most` ways to give the pod a place, each a list of edits that are made together. Single edits where one is enough,
 * else the fewest that were found to be enough. Empty when none was found.
 */
export function findFixes(
  asked: Asked,
  pod: Pod,
  reason: UnplacedReason,
  most: number,
  podSpec: PodSpecChange,
): (readonly Edit[])[] {
  if (reason.kind !== 'refused') return [];
  const edits = editsFor(asked.pools, pod, reason, asked.solution, podSpec).slice(0, MAX_TRIES);
  const single = singleFixes(asked, pod, edits, most);
  if (single.length > 0) return single;
  const together = fewestTogether(asked, pod, edits, podSpec);
  return together === undefined ? [] : [together];
}

/** One refusal may hide the next: each round makes all edits so far and adds those for what is in the way then. */
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
    const subject = applyEdits(kept, { pod, pools: asked.pools });
    const more = editsFor(asked.pools, subject.pod, reason, asked.solution, podSpec).slice(0, MAX_TRIES);
    const wider = withoutRivals([...kept, ...more]);
    if (wider.length === kept.length) return undefined;
    kept = wider;
  }
  for (const edit of [...kept].reverse()) {
    const fewer = kept.filter((each) => each !== edit);
    if (fewer.length > 0 && refusalWith(asked, pod, fewer) === undefined) kept = fewer;
  }
  return kept;
}

/** Edits that set the same field differently: the last one, which goes furthest, stands for all. */
function withoutRivals(edits: readonly Edit[]): readonly Edit[] {
  const byField = new Map<string, Edit>();
  for (const edit of edits) {
    const { change } = edit;
    if (change.kind === 'limit') byField.set(`limit ${change.pool} ${change.resource}`, edit);
    else if (change.kind === 'requests') byField.set('requests', edit);
    else byField.set(JSON.stringify(change), edit);
  }
  return [...byField.values()];
}

/** Why the pod is refused with the edits; undefined when it has a place. */
function refusalWith(asked: Asked, pod: Pod, edits: readonly Edit[]): UnplacedReason | undefined {
  const { overlay, options, pools } = asked;
  const subject = applyEdits(edits, { pod, pools });
  const quiet: SolveOptions = { ...options, searchRounds: 0, suggestChanges: false, explainChoices: false };
  const others = overlay.pods.length <= MAX_PODS ? overlay.pods.filter((other) => other !== pod) : [];
  const again = asked.ask({ ...overlay, pods: [...others, subject.pod] }, quiet, subject.pools);
  return again.unplaced.find((each) => each.pod === podKey(pod))?.reason;
}
