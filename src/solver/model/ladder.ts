/**
 * Variants of one pod's requirements, from all preferences to none. Relaxation follows Karpenter's order: a required
 * alternative, preferred affinity, preferred anti-affinity, preferred node affinity, soft spread, PreferNoSchedule.
 */
import { Requirements } from '../../constraints/requirements.ts';
import type { AffinityTerm, SpreadTerm } from '../../constraints/topology.ts';
import type { PodRules } from './podShape.ts';

export interface Rung {
  /** What the node must meet: one required alternative and the heaviest remaining preference. */
  readonly requirements: Requirements;
  /** The same without the preference: what spread uses to decide which nodes take part. */
  readonly strict: Requirements;
  readonly spread: readonly SpreadTerm[];
  readonly affinity: readonly AffinityTerm[];
  /** Separate terms, since they come from separate preferences. */
  readonly softAffinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  readonly softAntiAffinity: readonly AffinityTerm[];
  readonly toleratesPreferNoSchedule: boolean;
}

interface Wishes {
  readonly term: number;
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  readonly node: readonly Requirements[];
  readonly spread: readonly SpreadTerm[];
  readonly prefer: boolean;
}

export function relaxationLadder(rules: PodRules, policy: 'Respect' | 'Ignore', hasPreferTaints: boolean): Rung[] {
  const { topology } = rules;
  const byWeight = <Term extends { weight: number }>(terms: readonly Term[]): Term[] =>
    [...terms].sort((left, right) => right.weight - left.weight);
  const respect = policy === 'Respect';
  let wishes: Wishes | undefined = {
    term: 0,
    affinity: respect ? byWeight(topology.preferredAffinity) : [],
    antiAffinity: respect ? byWeight(topology.preferredAntiAffinity) : [],
    node: respect ? rules.preferredTerms : [],
    spread: respect ? topology.spread : topology.spread.filter(({ required }) => required),
    prefer: false,
  };
  const rungs: Rung[] = [];
  let last = wishes;
  for (; wishes !== undefined; wishes = relaxed(wishes, rules, hasPreferTaints)) {
    rungs.push(rungOf(wishes, rules));
    last = wishes;
  }
  // Karpenter's order never tries an early alternative without preferences. Add those variants, so that no pod waits
  // for lack of them.
  const bare = rungs.length > rules.terms.length;
  for (let term = 0; bare && term < rules.terms.length - 1; term++) rungs.push(rungOf({ ...last, term }, rules));
  return rungs;
}

function relaxed(wishes: Wishes, rules: PodRules, hasPreferTaints: boolean): Wishes | undefined {
  if (wishes.term < rules.terms.length - 1) return { ...wishes, term: wishes.term + 1 };
  if (wishes.affinity.length > 0) return { ...wishes, affinity: wishes.affinity.slice(1) };
  if (wishes.antiAffinity.length > 0) return { ...wishes, antiAffinity: wishes.antiAffinity.slice(1) };
  if (wishes.node.length > 0) return { ...wishes, node: wishes.node.slice(1) };
  const soft = wishes.spread.findIndex(({ required }) => !required);
  if (soft >= 0) return { ...wishes, spread: removeBySwap(wishes.spread, soft) };
  return hasPreferTaints && !wishes.prefer ? { ...wishes, prefer: true } : undefined;
}

/** Moves the last item into the gap. */
function removeBySwap<Item>(items: readonly Item[], index: number): Item[] {
  const copy = [...items];
  const last = copy.pop();
  if (last !== undefined && index < copy.length) copy[index] = last;
  return copy;
}

function rungOf(wishes: Wishes, { terms, topology }: PodRules): Rung {
  const strict = terms[wishes.term] ?? Requirements.empty;
  const [preferred] = wishes.node;
  return {
    strict,
    requirements: preferred === undefined ? strict : strict.merge(preferred),
    spread: wishes.spread,
    affinity: topology.affinity,
    softAffinity: wishes.affinity,
    antiAffinity: topology.antiAffinity,
    softAntiAffinity: wishes.antiAffinity,
    toleratesPreferNoSchedule: wishes.prefer,
  };
}
