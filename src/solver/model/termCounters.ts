/** The counters for the terms of pods. A term is the same object on every rung of a ladder, so each is read once. */
import { Requirement } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import type { AffinityTerm, SpreadTerm } from '../../constraints/topology.ts';
import type { Counters } from './counters.ts';
import type { Rung } from './ladder.ts';
import type { PodRules } from './podShape.ts';
import { counterSpec, isHostname, keepAwaySpec, nodeFilter, type CounterSpec } from './topologyCounter.ts';

export class TermCounters {
  private readonly counters: Counters;
  private readonly counterOfText = new Map<string, number>();
  private readonly spreadIds = new Map<object, number>();
  private readonly matchIds = new Map<object, number>();
  private readonly keepAwayIds = new Map<object, number>();
  private readonly affinityIds = new Map<object, readonly number[]>();

  constructor(counters: Counters) {
    this.counters = counters;
  }

  /** Registers those of all terms of the rung; call for all rungs before running pods are counted. */
  register(rules: PodRules, rung: Rung): void {
    for (const term of rung.spread) this.spread(rules, term);
    this.affinity(rung.affinity);
    for (const term of rung.softAffinity) this.affinity(term);
    for (const term of rung.antiAffinity) this.match(term);
    for (const term of rung.softAntiAffinity) this.match(term);
    for (const term of rung.antiAffinity) this.keepAway(term);
  }

  spread(rules: PodRules, term: SpreadTerm): number {
    return this.remember(this.spreadIds, term, () => {
      const constrained = rules.terms.length > 1 || (rules.terms[0]?.size ?? 0) > 0;
      const terms = term.honorsAffinity && constrained ? rules.terms : undefined;
      // The scheduler only counts nodes that have the keys of all hard spreads of the pod. Every node has a hostname.
      const otherKeys = rules.topology.spread
        .filter(({ required, topologyKey }) => required && topologyKey !== term.topologyKey && !isHostname(topologyKey))
        .map(({ topologyKey }) => Requirement.of(topologyKey, 'Exists'));
      const filter = nodeFilter(
        otherKeys.length === 0 ? terms : (terms ?? [Requirements.empty]).map((each) => each.add(...otherKeys)),
        term.honorsTaints ? rules.tolerations : undefined,
      );
      const make = (): CounterSpec => counterSpec('spread', term.topologyKey, [term], filter);
      const isOpen = filter.terms === undefined && filter.tolerations === undefined;
      return isOpen ? this.shared('spread', term, make) : this.counters.add(make());
    });
  }

  match(term: AffinityTerm): number {
    return this.remember(this.matchIds, term, () =>
      this.shared('match', term, () => counterSpec('match', term.topologyKey, [term])),
    );
  }

  keepAway(term: AffinityTerm): number {
    return this.remember(this.keepAwayIds, term, () => this.shared('away', term, () => keepAwaySpec(term)));
  }

  affinity(terms: AffinityTerm | readonly AffinityTerm[]): readonly number[] {
    const known = this.affinityIds.get(terms);
    if (known !== undefined) return known;
    const list = 'topologyKey' in terms ? [terms] : terms;
    const [first] = list;
    const ids =
      first !== undefined && list.length === 1
        ? [this.match(first)]
        : affinitySpecs(list).map((spec) => this.counters.add(spec));
    this.affinityIds.set(terms, ids);
    return ids;
  }

  /** Many pods have identical terms: find their counter without building its full name. */
  private shared(kind: string, term: AffinityTerm, make: () => CounterSpec): number {
    const { topologyKey, namespaces, selector } = term;
    const text = `${kind}\n${topologyKey}\n${namespaces?.join() ?? '*'}\n${JSON.stringify(selector)}`;
    let id = this.counterOfText.get(text);
    if (id === undefined) {
      id = this.counters.add(make());
      this.counterOfText.set(text, id);
    }
    return id;
  }

  private remember(ids: Map<object, number>, term: object, make: () => number): number {
    let id = ids.get(term);
    if (id === undefined) {
      id = make();
      ids.set(term, id);
    }
    return id;
  }
}

/** For affinity a pod counts only if it matches every term, as in the scheduler. */
function affinitySpecs(terms: readonly AffinityTerm[]): ReturnType<typeof counterSpec>[] {
  const keys = [...new Set(terms.map(({ topologyKey }) => topologyKey))];
  return keys.map((key) => counterSpec('match', key, terms));
}
