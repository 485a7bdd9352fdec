/**
 * Compiled pods of one question: classes that schedule alike, in a fixed order, and the counters that their rules need,
 * seeded with the running pods.
 */
import type { Overlay } from '../problem.ts';
import { Counters } from './counters.ts';
import { kindsOf } from './kinds.ts';
import type { Model } from './model.ts';
import type { PodClass, Variant } from './podClass.ts';
import { podClasses } from './podClasses.ts';
import { TermCounters } from './termCounters.ts';
import { zonalBases } from './zonalBases.ts';

export interface CompiledDemand {
  readonly model: Model;
  /** Rows of nodes that the overlay removes. */
  readonly removed: ReadonlySet<number>;
  /** Names of nodes that accept no pod. */
  readonly closed: ReadonlySet<string> | undefined;
  readonly classes: readonly PodClass[];
  readonly counters: Counters;
  /** By pool: initial state of its new nodes. */
  readonly bases: readonly number[];
  /** Offerings without a zone are left out because pods spread over zones. */
  readonly isKeptZonal: boolean;
  /** Offerings without a zone are included, although they could be left out. */
  readonly isSpreadBeyondZones: boolean;
  /**
   * Some pods spread over two keys at once: the order in which they are bound decides which domains remain for the
   * others.
   */
  readonly isCrossed: boolean;
}

export function compileDemand(
  model: Model,
  overlay: Overlay,
  policy: 'Respect' | 'Ignore',
  staysZonal: boolean,
): CompiledDemand {
  const { pods, withoutNodes = [], closedNodes } = overlay;
  const removed = new Set([...withoutNodes].flatMap((name) => model.existing.indexOf.get(name) ?? []));
  const counters = new Counters(model, removed);
  const terms = new TermCounters(counters);
  const kinds = kindsOf(pods, model, policy);
  // All counters must exist before running pods are counted; classes depend on which counters count them.
  const keepAway = model.running.keepingAway(pods);
  for (const { spec } of keepAway) counters.add(spec);
  for (const { rules, rungs } of kinds.rules) for (const rung of rungs) terms.register(rules, rung);
  const zonal = zonalBases(model, counters, kinds.rules, removed);
  counters.seed(keepAway);
  const classes = podClasses(pods, kinds, counters, terms, model);
  const isOptional = zonal.some((base, pool) => base !== model.states.base(pool));
  if (staysZonal) counters.bases = zonal;
  return {
    model,
    removed,
    closed: closedNodes,
    classes,
    counters,
    bases: counters.bases,
    isKeptZonal: isOptional && staysZonal,
    isSpreadBeyondZones: isOptional && !staysZonal,
    isCrossed: classes.some(({ variants }) => isCrossedBy(variants.at(-1), counters)),
  };
}

/** The variant spreads over more than one key besides the hostname. */
export function isCrossedBy(variant: Variant | undefined, counters: Counters): boolean {
  let first: string | undefined;
  for (const { kind, counter } of variant?.domain ?? []) {
    if (kind !== 'spread') continue;
    const { topologyKey } = counters.at(counter).spec;
    first ??= topologyKey;
    if (first !== topologyKey) return true;
  }
  return false;
}

/** Copy for another search: shares everything compiled, with counters reset to the running pods. */
export function withoutPlacements(compiled: CompiledDemand): CompiledDemand {
  return { ...compiled, counters: compiled.counters.copy() };
}
