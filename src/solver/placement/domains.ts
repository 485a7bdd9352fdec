/**
 * Whether a pod may be placed in a domain given the counts so far, and which allowed domain is best. Every placed pod
 * is recorded here, so that later answers include it.
 */
import type { Counters } from '../model/counters.ts';
import type { Model } from '../model/model.ts';
import { UNLIMITED } from '../model/hostCounts.ts';
import { isHostname } from '../model/topologyCounter.ts';
import type { CompiledDemand } from '../model/compiledDemand.ts';
import type { DomainConstraint, HostAffinity, HostLimit, PodClass, Variant } from '../model/podClass.ts';
import { intAt, itemAt } from '../rows.ts';
import { DomainOptions } from './domainOptions.ts';
import { ComparedDomains } from './comparedDomains.ts';
import { LeastCounts } from './leastCounts.ts';
import type { OpenNode } from './openNode.ts';
import type { StateCost } from './poolFit.ts';

/** The number of a domain or of an existing node, or a planned node. */
type Place = number | OpenNode;

/**
 * Choice among domains of the same price: the first or the last of those that suit the pod's counters best, or simply
 * the first allowed one. `last` also takes the last of equal pools.
 */
export type TieBreak = 'best' | 'last' | 'first';

/** Which pods are kept off nodes without a zone: those that a spread over zones counts, or all that have one. */
export type ZoneKeeping = 'none' | 'counted' | 'spread';

export interface DomainMode {
  /** Uses reserved-only capacity only for pods with no alternative. */
  readonly avoidsReserved: boolean;
  /**
   * Spread over hostnames restricts a pod only when it is placed, not the pods placed later; pods with affinity to
   * their own kind may also join other pods that they select. Such a plan is valid only for some orders of the pods.
   */
  readonly isLenient: boolean;
  readonly keepsZones: ZoneKeeping;
  /**
   * Spread ignores domains that only pods of other rules could open, until they do. Such a plan is valid as long as
   * nothing else opens them.
   */
  readonly comparesOpened: boolean;
  readonly ties: TieBreak;
  /**
   * Narrows planned nodes until it is known in which spreads they take part, and where; otherwise every possibility
   * must be valid.
   */
  readonly settlesDoubts: boolean;
}

export class Domains {
  private readonly counters: Counters;
  private readonly model: Model;
  private readonly isLenient: boolean;
  private readonly keepsZones: ZoneKeeping;
  readonly ties: TieBreak;
  private readonly settlesDoubts: boolean;
  private readonly compared: ComparedDomains | undefined;
  /** By counter: place of the first pod with affinity to its own kind. */
  private readonly homes = new Map<number, Place>();
  private readonly options: DomainOptions;
  private readonly openKeys = new Map<Variant, readonly string[]>();
  private readonly least: LeastCounts;
  /** Best result so far of the search for values. */
  private best = -1;
  private bestPrice = Number.POSITIVE_INFINITY;
  private bestScore = Number.POSITIVE_INFINITY;

  constructor(compiled: CompiledDemand, mode: DomainMode) {
    const { avoidsReserved, isLenient, keepsZones, comparesOpened, ties, settlesDoubts } = mode;
    this.counters = compiled.counters;
    this.model = compiled.model;
    this.options = new DomainOptions(this.model, this.counters, avoidsReserved);
    this.least = new LeastCounts(this.counters);
    this.isLenient = isLenient;
    this.keepsZones = keepsZones;
    this.ties = ties;
    this.settlesDoubts = settlesDoubts;
    this.compared = comparesOpened ? ComparedDomains.in(compiled) : undefined;
  }

  /** Limit on pods of the limit's counter on a node once a pod with that limit is there. */
  othersMax({ counter, othersMax }: HostLimit): number {
    return this.isLenient && this.counters.at(counter).spec.kind === 'spread' ? UNLIMITED : othersMax;
  }

  /** Whether a constraint is satisfied in a domain of its key; -1: a node without the label. */
  allows(constraint: DomainConstraint, domain: number): boolean {
    if (domain < 0) return constraint.kind === 'anti-affinity';
    if (this.options.hasDrawn && !this.allowsDrawn(constraint, domain)) return false;
    switch (constraint.kind) {
      case 'anti-affinity':
        return this.countIn(constraint, domain) === 0;
      case 'affinity':
        return this.allowsCompany(constraint, domain, this.countIn(constraint, domain));
      case 'spread':
        return this.compared === undefined
          ? this.keepsSkew(constraint, domain, this.least.eligible(constraint))
          : this.levels(constraint, domain, this.compared.of(constraint));
    }
  }

  /**
   * A node whose claim draws its value may end up with the same value as another such node, or as a node with a number.
   */
  private allowsDrawn({ kind, counter }: DomainConstraint, domain: number): boolean {
    const { domains, counts } = this.counters.at(counter);
    const { drawn } = domains;
    if (domain !== drawn) return kind !== 'anti-affinity' || (counts[drawn] ?? 0) === 0 || !domains.mayBeDrawn(domain);
    return kind === 'anti-affinity' && !counts.some((count, other) => count > 0 && domains.mayBeDrawn(other));
  }

  /** Whether a pod in the domain keeps the skew of a spread that compares these domains. */
  levels(constraint: DomainConstraint, domain: number, compared: Int32Array): boolean {
    return this.keepsSkew(constraint, domain, this.least.among(constraint, compared));
  }

  private keepsSkew({ counter, self, maxSkew }: DomainConstraint, domain: number, least: number): boolean {
    const { counts, doubtful } = this.counters.at(counter);
    return (counts[domain] ?? 0) + (doubtful[domain] ?? 0) + (self ? 1 : 0) - least <= maxSkew;
  }

  private countIn({ counter }: DomainConstraint, domain: number): number {
    return this.counters.at(counter).counts[domain] ?? 0;
  }

  /**
   * Affinity. Pods with affinity to their own kind follow the first of them, even when other pods that they select are
   * placed elsewhere: the plan must work for any order in which the scheduler takes them.
   */
  allowsCompany({ counter, self, together }: HostAffinity, place: Place, count: number): boolean {
    const home = self ? this.homes.get(counter) : undefined;
    if (home !== undefined) return home === place || (this.isLenient && count > 0);
    return count > 0 || (self && this.isFirst(together));
  }

  /** No pod selected by the affinity is placed yet. */
  private isFirst(together: readonly number[]): boolean {
    return together.every((counter) => this.counters.at(counter).total === 0);
  }

  /** Whether an existing node satisfies every constraint of the variant. */
  allowsNode(variant: Variant, node: number): boolean {
    return variant.domain.every((constraint) => this.allows(constraint, this.domainOf(constraint.counter, node)));
  }

  /** The domain in which the counter counts pods at a place; -1 for none or undecided. */
  domainOf(counter: number, place: Place): number {
    const key = this.keyOf(counter);
    return typeof place === 'number'
      ? intAt(this.counters.domainOfNodes(key), place)
      : this.domainOfState(place.state, key);
  }

  /** Fixes every key that the variant's counters need to an allowed value, at least cost; -1: impossible. */
  pin(variant: Variant, start: number, cost: StateCost): number {
    this.best = -1;
    this.bestPrice = Number.POSITIVE_INFINITY;
    this.bestScore = Number.POSITIVE_INFINITY;
    this.descend(variant, 0, start, 0, false, cost);
    return this.best;
  }

  /** Tries every allowed value of the keys from `at` on; keeps the cheapest state in `best`, ties by score. */
  private descend(
    variant: Variant,
    at: number,
    state: number,
    score: number,
    isPriced: boolean,
    cost: StateCost,
  ): void {
    const key = this.keyToPin(variant, at);
    if (key === undefined) {
      const isWorse = this.ties === 'last' ? score > this.bestScore : score >= this.bestScore;
      if ((!isPriced && isWorse) || !cost.accepts(state)) return;
      const price = isPriced ? cost.price(state) : 0;
      if (price > this.bestPrice || (price === this.bestPrice && isWorse)) return;
      this.best = state;
      this.bestPrice = price;
      this.bestScore = score;
      return;
    }
    const { all, arePriced } = this.options.of(state, key);
    for (let each = 0; each < all.length; each++) {
      const { domain, state: pinned, isRegional } = itemAt(all, each);
      if (pinned < 0 || (isRegional && this.keepsZone(variant, key))) continue;
      const own = this.score(variant, key, domain);
      if (own === Number.POSITIVE_INFINITY) continue;
      const total = this.ties === 'first' ? 0 : score + own;
      this.descend(variant, at + 1, pinned, total, isPriced || arePriced, cost);
    }
    // No node has a value for the key: possible only if all constraints allow a node without the label.
    if (all.length > 0 || this.needs(variant, key)) return;
    const { states } = this.model;
    const bare = states.isOptional(state, key) ? states.withoutLabel(state, key) : state;
    if (bare >= 0) this.descend(variant, at + 1, bare, score, isPriced, cost);
  }

  private keyToPin(variant: Variant, at: number): string | undefined {
    const { pinKeys } = variant;
    return pinKeys[at] ?? (this.settlesDoubts ? this.openKeysOf(variant)[at - pinKeys.length] : undefined);
  }

  /** Keys that the pod leaves open but that decide in which domains it counts for other pods. */
  private openKeysOf(variant: Variant): readonly string[] {
    let keys = this.openKeys.get(variant);
    if (keys === undefined) {
      keys = [...new Set([...variant.doubtKeys, ...spreadKeys(this.counters)])].filter(
        (key) => !variant.pinKeys.includes(key),
      );
      this.openKeys.set(variant, keys);
    }
    return keys;
  }

  private keepsZone(variant: Variant, key: string): boolean {
    if (this.keepsZones === 'none') return false;
    return this.keepsZones === 'spread' ? this.hasSpread(variant, key) : this.isSpreadOver(variant, key);
  }

  private hasSpread({ domain }: Variant, key: string): boolean {
    return domain.some(({ counter, kind }) => kind === 'spread' && this.keyOf(counter) === key);
  }

  /** A spread that does not count the pod itself only keeps it away from others. */
  isSpreadOver({ domain }: Variant, key: string): boolean {
    return domain.some(({ counter, kind, self }) => kind === 'spread' && self && this.keyOf(counter) === key);
  }

  private needs({ domain }: Variant, key: string): boolean {
    return domain.some(({ counter, kind }) => this.keyOf(counter) === key && kind !== 'anti-affinity');
  }

  /**
   * Lower is better: fewer pods counted by its spread, then more pods selected by its affinity; Infinity: not allowed.
   */
  private score({ domain: constraints, domainAdds }: Variant, key: string, domain: number): number {
    let score = 0;
    for (let at = 0; at < constraints.length; at++) {
      const constraint = itemAt(constraints, at);
      const { spec, counts } = this.counters.at(constraint.counter);
      if (spec.topologyKey !== key) continue;
      if (!this.allows(constraint, domain)) return Number.POSITIVE_INFINITY;
      const count = counts[domain] ?? 0;
      if (constraint.kind === 'spread') score += count;
      else if (constraint.kind === 'affinity') score -= Math.min(count, 1023) / 1024;
    }
    for (let at = 0; at < domainAdds.length; at++) {
      const { spec, counts, gathers } = this.counters.at(itemAt(domainAdds, at));
      if (gathers && spec.topologyKey === key) score -= Math.min(counts[domain] ?? 0, 1023) / 1024;
    }
    return score;
  }

  recordOnNode(podClass: PodClass, variant: Variant, node: number, pods: number): void {
    const { counters } = this;
    this.settle(variant, (key) => intAt(counters.domainOfNodes(key), node), node);
    for (const id of variant.domainAdds) {
      const counter = counters.at(id);
      const domain = intAt(counters.domainOfNodes(counter.spec.topologyKey), node);
      if (domain >= 0 && counters.nodePasses(counter.spec.filter, node)) counters.count(counter, domain, pods);
    }
    for (const id of podClass.hostAdds) {
      const counter = counters.at(id);
      if (!counters.nodePasses(counter.spec.filter, node)) continue;
      counter.hosts.add(node, pods);
      counter.total += pods;
    }
    for (const limit of variant.hostLimits) {
      counters.at(limit.counter).hosts.limitTo(node, this.othersMax(limit));
    }
  }

  recordInState(podClass: PodClass, variant: Variant, state: number, pods: number, node?: OpenNode): void {
    const { counters } = this;
    this.compared?.open(state);
    this.settle(variant, (key) => this.domainOfState(state, key), node);
    const { domainAdds } = variant;
    for (let at = 0; at < domainAdds.length; at++) {
      const id = itemAt(domainAdds, at);
      const counter = counters.at(id);
      const domain = this.domainOfState(state, counter.spec.topologyKey);
      if (domain < 0) continue;
      const passes = counters.statePasses(id, state);
      if (passes === 'yes') counters.count(counter, domain, pods);
      else if (passes === 'maybe') counter.doubtful[domain] = (counter.doubtful[domain] ?? 0) + pods;
    }
    const { hostAdds } = podClass;
    for (let at = 0; at < hostAdds.length; at++) counters.at(itemAt(hostAdds, at)).total += pods;
  }

  /** Records where the first pod with affinity to its own kind goes: the others must follow it. */
  private settle(variant: Variant, domainOf: (key: string) => number, node: Place | undefined): void {
    if (!variant.hasAffinity) return;
    const homes: [number, Place][] = [];
    for (const { kind, counter, self, together } of variant.domain) {
      if (kind === 'affinity' && self && this.isFirst(together)) homes.push([counter, domainOf(this.keyOf(counter))]);
    }
    for (const { counter, self, together } of variant.hostAffinity) {
      if (node !== undefined && self && this.isFirst(together)) homes.push([counter, node]);
    }
    for (const [counter, place] of homes) this.homes.set(counter, place);
  }

  /** The only possible value of the key in the state, or -1. */
  private domainOfState(state: number, key: string): number {
    if (isHostname(key)) return -1;
    const { all } = this.options.of(state, key);
    return all.length === 1 ? itemAt(all, 0).domain : -1;
  }

  private keyOf(counter: number): string {
    return this.counters.at(counter).spec.topologyKey;
  }
}

/** Topology keys, except the hostname, that some pod spreads over. */
export function spreadKeys({ all }: Counters): readonly string[] {
  const keys = all.flatMap(({ spec, hostname }) => (spec.kind === 'spread' && !hostname ? [spec.topologyKey] : []));
  return [...new Set(keys)].sort();
}
