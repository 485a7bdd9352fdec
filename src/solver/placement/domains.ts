/**
 * Whether a pod may stand in a domain, by the counts so far. In: a variant of a class; out: yes or no per domain, and
 * which domain suits best. Placing a pod is told here, so that the next question sees it.
 */
import type { Counters } from '../model/counters.ts';
import type { Model } from '../model/model.ts';
import { isHostname } from '../model/topologyCounter.ts';
import type { DomainConstraint, HostAffinity, PodClass, CompiledDemand, Variant } from '../model/compiledDemand.ts';
import type { OpenNode } from './openNode.ts';

/** A domain or an existing node by its number, or a node that is only planned. */
type Place = number | OpenNode;

export class Domains {
  private readonly counters: Counters;
  private readonly model: Model;
  private readonly avoidsReserved: boolean;
  /** By counter: where the first pod stands that came by its affinity to its own kind. */
  private readonly homes = new Map<number, Place>();
  private readonly options: Map<string, readonly { readonly domain: number; readonly state: number }[]>[] = [];

  constructor(compiled: CompiledDemand, avoidsReserved: boolean) {
    this.counters = compiled.counters;
    this.model = compiled.model;
    this.avoidsReserved = avoidsReserved;
  }

  /** Of one constraint, in a domain of its key; -1 stands for a node without the label. */
  allows(constraint: DomainConstraint, domain: number): boolean {
    const counter = this.counters.at(constraint.counter);
    if (domain < 0) return constraint.kind === 'anti-affinity';
    const count = counter.counts[domain] ?? 0;
    switch (constraint.kind) {
      case 'anti-affinity':
        return count === 0;
      case 'affinity':
        return this.allowsCompany(constraint, domain, count);
      case 'spread':
        return (
          count + (counter.doubtful[domain] ?? 0) + (constraint.self ? 1 : 0) - this.fewest(constraint) <=
          constraint.maxSkew
        );
    }
  }

  /**
   * Affinity. Pods that look for their own kind stay where the first of them went, even when others whom they look for
   * come to stand elsewhere: the scheduler may take the pods in any order, and must find each a place.
   */
  allowsCompany({ counter, self, together }: HostAffinity, place: Place, count: number): boolean {
    const home = self ? this.homes.get(counter) : undefined;
    if (home !== undefined) return home === place;
    return count > 0 || (self && this.isFirst(together));
  }

  /** Nobody is there yet whom affinity looks for. */
  private isFirst(together: readonly number[]): boolean {
    return together.every((counter) => this.counters.at(counter).total === 0);
  }

  /** Whether every constraint of the variant holds on a node that is there. */
  allowsNode(variant: Variant, node: number): boolean {
    return variant.domain.every((constraint) => {
      const { spec } = this.counters.at(constraint.counter);
      return this.allows(constraint, this.counters.domainOfNodes(spec.topologyKey)[node]!);
    });
  }

  /**
   * Pins the keys that the variant's counters need, each to the value that is allowed and suits best. Out: the
   * narrowed state, or -1. `accepts` asks whether a state still has a machine for the pod.
   */
  pin(variant: Variant, start: number, accepts: (state: number) => boolean): number {
    let state = start;
    const { pinKeys } = variant;
    for (let at = 0; at < pinKeys.length; at++) {
      const key = pinKeys[at]!;
      const options = this.optionsOf(state, key);
      let best = -1;
      let bestScore = Number.POSITIVE_INFINITY;
      for (let each = 0; each < options.length; each++) {
        const option = options[each]!;
        if (option.state < 0) continue;
        const score = this.score(variant, key, option.domain);
        if (score >= bestScore || !accepts(option.state)) continue;
        best = option.state;
        bestScore = score;
      }
      if (best < 0) {
        // A key that no machine has a value for: only constraints that need none can hold.
        const needed = variant.domain.some(
          ({ counter, kind }) => this.keyOf(counter) === key && kind !== 'anti-affinity',
        );
        if (needed || this.model.states.valuesOf(state, key).length > 0) return -1;
        continue;
      }
      state = best;
    }
    return state;
  }

  /** The values that the key can still have in the state, and what the state becomes with each. */
  private optionsOf(state: number, key: string): readonly { readonly domain: number; readonly state: number }[] {
    const known = (this.options[state] ??= new Map());
    let options = known.get(key);
    if (options === undefined) {
      const { states } = this.model;
      const domains = this.counters.domains(key);
      options = states.valuesOf(state, key).map((value) => {
        const pinned = states.pin(state, key, value);
        const isAvoided = this.avoidsReserved && !this.isReserved(state) && this.isReserved(pinned);
        return { domain: domains.numberOf(value), state: isAvoided ? -1 : pinned };
      });
      known.set(key, options);
    }
    return options;
  }

  private isReserved(state: number): boolean {
    if (state < 0) return false;
    const { offerings, reserved } = this.model.states.at(state);
    return offerings.length === reserved.length;
  }

  /** Fewer of its own kind first, then where affinity has more company; Infinity: not allowed. */
  private score(variant: Variant, key: string, domain: number): number {
    let score = 0;
    const { domain: constraints, domainAdds } = variant;
    for (let at = 0; at < constraints.length; at++) {
      const constraint = constraints[at]!;
      const counter = this.counters.at(constraint.counter);
      if (counter.spec.topologyKey !== key) continue;
      if (!this.allows(constraint, domain)) return Number.POSITIVE_INFINITY;
      const count = counter.counts[domain] ?? 0;
      if (constraint.kind === 'spread') score += count * 1024;
      if (constraint.kind === 'affinity') score -= Math.min(count, 1023) / 1024;
    }
    for (let at = 0; at < domainAdds.length; at++) {
      const { spec, counts, gathers } = this.counters.at(domainAdds[at]!);
      if (spec.topologyKey !== key) continue;
      const count = counts[domain] ?? 0;
      score += gathers ? -Math.min(count, 1023) / 1024 : count;
    }
    return score;
  }

  /** The pod now stands on a node that is there, or in a state. */
  recordOnNode(podClass: PodClass, variant: Variant, node: number, pods: number): void {
    this.settle(variant, (key) => this.counters.domainOfNodes(key)[node]!, node);
    for (const id of variant.domainAdds) {
      const counter = this.counters.at(id);
      const domain = this.counters.domainOfNodes(counter.spec.topologyKey)[node]!;
      if (domain >= 0 && this.counters.nodePasses(counter.spec.filter, node))
        this.counters.count(counter, domain, pods);
    }
    for (const id of podClass.hostAdds) {
      const counter = this.counters.at(id);
      if (this.counters.nodePasses(counter.spec.filter, node)) {
        counter.hosts.add(node, pods);
        counter.total += pods;
      }
    }
    for (const { counter, max } of variant.hostLimits) {
      this.counters.at(counter).hosts.limitTo(node, max);
    }
  }

  recordInState(podClass: PodClass, variant: Variant, state: number, pods: number, node?: OpenNode): void {
    this.settle(variant, (key) => this.domainOfState(state, key), node);
    const { domainAdds } = variant;
    for (let at = 0; at < domainAdds.length; at++) {
      const id = domainAdds[at]!;
      const counter = this.counters.at(id);
      const domain = this.domainOfState(state, counter.spec.topologyKey);
      if (domain < 0) continue;
      const passes = this.counters.statePasses(id, state);
      if (passes === 'yes') this.counters.count(counter, domain, pods);
      else if (passes === 'maybe') counter.doubtful[domain] = (counter.doubtful[domain] ?? 0) + pods;
    }
    const { hostAdds } = podClass;
    for (let at = 0; at < hostAdds.length; at++) this.counters.at(hostAdds[at]!).total += pods;
  }

  /** The first of a kind that looks for its own: where it stands the others will. */
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

  /** The only value that the key can have in the state, or -1. */
  private domainOfState(state: number, key: string): number {
    if (isHostname(key)) return -1;
    const options = this.optionsOf(state, key);
    return options.length === 1 ? options[0]!.domain : -1;
  }

  private keyOf(counter: number): string {
    return this.counters.at(counter).spec.topologyKey;
  }

  private fewest({ counter: id, minDomains }: DomainConstraint): number {
    const eligible = this.counters.eligible(id);
    if (eligible.length < minDomains || eligible.length === 0) return 0;
    const { counts } = this.counters.at(id);
    let fewest = Number.POSITIVE_INFINITY;
    for (let at = 0; at < eligible.length; at++) {
      const count = counts[eligible[at]!] ?? 0;
      if (count < fewest) fewest = count;
    }
    return fewest;
  }
}
