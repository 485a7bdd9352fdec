/**
 * The pods of one question to the model, compiled: classes that schedule alike, in a fixed order, and the counters that
 * their rules need, seeded with the running pods.
 */
import { podKey } from '../../pods/podKey.ts';
import type { Pod } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { Requirement } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import { type AffinityTerm, type SpreadTerm } from '../../constraints/topology.ts';
import type { Overlay } from '../problem.ts';
import { intAt, itemAt } from '../rows.ts';
import { Counters } from './counters.ts';
import { UNLIMITED } from './hostCounts.ts';
import { kindsOf, type Kinds, type RulesGroup } from './kinds.ts';
import type { Rung } from './ladder.ts';
import { Matcher } from './matcher.ts';
import type { Model } from './model.ts';
import { type PodLoad, type PodRules, type PodShape } from './podShape.ts';
import { counterSpec, isHostname, keepAwaySpec, nodeFilter, type CounterSpec } from './topologyCounter.ts';

/** No more than `max` pods that the counter counts may be on the node. */
export interface HostLimit {
  readonly counter: number;
  readonly max: number;
  /** How many there may be once such a pod is there. A wish of one pod does not limit others. */
  readonly othersMax: number;
}

export interface DomainConstraint {
  readonly kind: 'spread' | 'affinity' | 'anti-affinity';
  readonly counter: number;
  readonly maxSkew: number;
  readonly minDomains: number;
  /** The pod counts itself. */
  readonly self: boolean;
  /** Affinity: the counters of all its terms. Only while none of them counts any pod may the pod be the first. */
  readonly together: readonly number[];
}

export interface HostAffinity {
  readonly counter: number;
  readonly self: boolean;
  readonly together: readonly number[];
}

/** A class with some of its wishes dropped. */
export interface Variant {
  readonly rung: Rung;
  readonly requirementId: number;
  /** Over keys other than the hostname. */
  readonly domain: readonly DomainConstraint[];
  readonly hostLimits: readonly HostLimit[];
  readonly hostAffinity: readonly HostAffinity[];
  /** Of either kind. */
  readonly hasAffinity: boolean;
  /** Counters that every pod placed this way adds to, by domain. */
  readonly domainAdds: readonly number[];
  /** Topology keys of which a new node must have one value, so that its pods can be counted. */
  readonly pinKeys: readonly string[];
  /** Other keys that decide whether the node takes part in the spreads that count the pod. */
  readonly doubtKeys: readonly string[];
}

export interface PodClass {
  readonly id: number;
  readonly shape: PodShape;
  /** The same for classes that differ only in how much they matter. */
  readonly equivalenceKey: string;
  readonly row: Float64Array;
  readonly tolerationsKey: string;
  /** In order of name. */
  readonly pods: readonly Pod[];
  readonly variants: readonly Variant[];
  readonly hostAdds: readonly number[];
  /** Needs a resource that no node offers. */
  readonly unknownResource: string | undefined;
}

export interface CompiledDemand {
  readonly model: Model;
  /** Rows of nodes that the overlay removes. */
  readonly removed: ReadonlySet<number>;
  /** Names of nodes that take no pod. */
  readonly closed: ReadonlySet<string> | undefined;
  readonly classes: readonly PodClass[];
  readonly counters: Counters;
  /** By pool: the state that its new nodes start in. */
  readonly bases: readonly number[];
  /** Nodes without a zone are left out because pods spread over zones. */
  readonly isKeptZonal: boolean;
  /** Such nodes are not left out, though they could be. */
  readonly isSpreadBeyondZones: boolean;
}

export function compileDemand(
  model: Model,
  overlay: Overlay,
  policy: 'Respect' | 'Ignore',
  staysZonal: boolean,
): CompiledDemand {
  const { removed, classes, counters, zonalBases } = new DemandCompiler(model, overlay, policy);
  const isOptional = zonalBases.some((base, pool) => base !== model.states.base(pool));
  if (staysZonal) counters.bases = zonalBases;
  const { bases } = counters;
  return {
    model,
    removed,
    closed: overlay.closedNodes,
    classes,
    counters,
    bases,
    isKeptZonal: isOptional && staysZonal,
    isSpreadBeyondZones: isOptional && !staysZonal,
  };
}

/** For another search: all that was compiled, and counters that count only the running pods. */
export function withoutPlacements(compiled: CompiledDemand): CompiledDemand {
  return { ...compiled, counters: compiled.counters.copy() };
}

class DemandCompiler {
  readonly removed: ReadonlySet<number>;
  readonly classes: readonly PodClass[];
  readonly counters: Counters;
  /** By pool: the state of its new nodes when those in no zone are left out. */
  readonly zonalBases: readonly number[];
  private readonly model: Model;
  private readonly counterOfText = new Map<string, number>();
  private readonly spreads = new Map<object, number>();
  private readonly matches = new Map<object, number>();
  private readonly keepers = new Map<object, number>();
  private readonly affinities = new Map<object, readonly number[]>();

  constructor(model: Model, overlay: Overlay, policy: 'Respect' | 'Ignore') {
    this.model = model;
    const names = [...(overlay.withoutNodes ?? [])];
    this.removed = new Set(names.flatMap((name) => model.existing.indexOf.get(name) ?? []));
    this.counters = new Counters(model, this.removed);
    const kinds = kindsOf(overlay.pods, model, policy);
    const keepAway = model.running.keepingAway(overlay.pods);
    for (const { spec } of keepAway) this.counters.add(spec);
    for (const { rules, rungs } of kinds.rules) for (const rung of rungs) this.registerCounters(rules, rung);
    this.zonalBases = this.findZonalBases(kinds.rules);
    this.counters.seed(keepAway);
    this.classes = this.split(overlay.pods, kinds);
  }

  /**
   * To the scheduler "no zone" is one more zone once a node is in it, and an empty one blocks pods that spread. As
   * long as no pod is there or must go there, no node is planned there while pods spread over zones.
   */
  private findZonalBases(groups: readonly RulesGroup[]): readonly number[] {
    const { states, pools } = this.model;
    const { bases } = this.counters;
    const regional = new Set(pools.flatMap(({ regionalZones }) => [...regionalZones]));
    const isSpread = this.counters.all.some(({ spec }) => spec.kind === 'spread' && spec.topologyKey === Labels.zone);
    if (regional.size === 0 || !isSpread) return bases;
    for (const zone of regional) if (this.hasNodeIn(zone)) regional.delete(zone);
    for (const { rules, rungs } of groups) {
      for (const { strict } of rungs) {
        for (const volumes of rules.volumes?.alternatives ?? [Requirements.empty]) {
          const id = states.requirementId(strict.merge(volumes));
          for (const base of bases) {
            const zones = states.valuesOf(states.narrow(base, id), Labels.zone);
            if (zones.every((zone) => regional.has(zone))) for (const zone of zones) regional.delete(zone);
          }
        }
      }
    }
    if (regional.size === 0) return bases;
    const zonal = states.requirementId(Requirements.of(Requirement.of(Labels.zone, 'NotIn', [...regional].sort())));
    return bases.map((base) => {
      const narrowed = states.narrow(base, zonal);
      return narrowed < 0 ? base : narrowed;
    });
  }

  private hasNodeIn(zone: string): boolean {
    const { values, nodesIn, domainOf } = this.model.running.domains(Labels.zone);
    const domain = values.indexOf(zone);
    if (domain < 0) return false;
    const gone = [...this.removed].filter((row) => domainOf[row] === domain).length;
    return itemAt(nodesIn, domain) > gone;
  }

  private registerCounters(rules: PodRules, rung: Rung): void {
    for (const term of rung.spread) this.spreadCounter(rules, term);
    this.affinityCounters(rung.affinity);
    for (const term of rung.softAffinity) this.affinityCounters(term);
    for (const term of rung.antiAffinity) this.matchCounter(term);
    for (const term of rung.softAntiAffinity) this.matchCounter(term);
    for (const term of rung.antiAffinity) this.keepAwayCounter(term);
  }

  // Terms are the same objects on every rung of a ladder, so that each is worked out once.

  private spreadCounter(rules: PodRules, term: SpreadTerm): number {
    return this.remember(this.spreads, term, () => {
      const constrained = rules.terms.length > 1 || (rules.terms[0]?.size ?? 0) > 0;
      const terms = term.honorsAffinity && constrained ? rules.terms : undefined;
      // The scheduler only counts nodes that have the keys of all hard spreads of the pod. All have a hostname.
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

  private matchCounter(term: AffinityTerm): number {
    return this.remember(this.matches, term, () =>
      this.shared('match', term, () => counterSpec('match', term.topologyKey, [term])),
    );
  }

  private keepAwayCounter(term: AffinityTerm): number {
    return this.remember(this.keepers, term, () => this.shared('away', term, () => keepAwaySpec(term)));
  }

  private affinityCounters(terms: AffinityTerm | readonly AffinityTerm[]): readonly number[] {
    const known = this.affinities.get(terms);
    if (known !== undefined) return known;
    const list = 'topologyKey' in terms ? [terms] : terms;
    const [first] = list;
    const ids =
      first !== undefined && list.length === 1
        ? [this.matchCounter(first)]
        : affinitySpecs(list).map((spec) => this.counters.add(spec));
    this.affinities.set(terms, ids);
    return ids;
  }

  /** Most terms are written the same way by many pods: their counter is found without making its full name. */
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

  /** Pods that differ in load, in rules or in the counters that count them are different classes. */
  private split(pods: readonly Pod[], { loads, loadOf, rules, rulesOf }: Kinds): PodClass[] {
    const { counters } = this;
    const matcher = new Matcher(counters);
    const { signatures, signatureOf } = matcher.match(pods);
    const members = new Map<number, Pod[]>();
    for (let at = 0; at < pods.length; at++) {
      const rank = (intAt(loadOf, at) * rules.length + intAt(rulesOf, at)) * signatures.length + intAt(signatureOf, at);
      const known = members.get(rank);
      if (known === undefined) members.set(rank, [itemAt(pods, at)]);
      else known.push(itemAt(pods, at));
    }
    // The counters that count a pod, and its preferences, do not depend on its load.
    const hostAdds = signatures.map(({ counted }) =>
      counted.filter((id) => counters.at(id).hostname && counters.at(id).spec.kind !== 'owners'),
    );
    const variants: (readonly Variant[] | undefined)[] = [];
    const classes: PodClass[] = [];
    for (const rank of Float64Array.from(members.keys()).sort()) {
      const own = members.get(rank) ?? [];
      const signature = rank % signatures.length;
      const pair = Math.floor(rank / signatures.length);
      const { load, key, row, unknownResource } = itemAt(loads, Math.floor(pair / rules.length));
      const { rules: its, text, rungs, tolerationsKey } = itemAt(rules, pair % rules.length);
      const { counted, text: countedBy } = itemAt(signatures, signature);
      const kind = (pair % rules.length) * signatures.length + signature;
      const shared = (variants[kind] ??= rungs.map((rung) => this.variant(its, rung, counted)));
      classes.push({
        id: classes.length,
        shape: shapeOf(load, its),
        equivalenceKey: `${key}\n${text}\n${countedBy}`,
        row,
        tolerationsKey,
        pods: own.length === 1 ? own : sortByName(own),
        unknownResource,
        hostAdds: itemAt(hostAdds, signature),
        variants: shared.map(copyOf),
      });
    }
    return classes;
  }

  private variant(rules: PodRules, rung: Rung, counted: readonly number[]): Variant {
    const { counters, model } = this;
    const isCounted = new Set(counted);
    const domain: DomainConstraint[] = [];
    const hostLimits: HostLimit[] = [];
    const hostAffinity: HostAffinity[] = [];
    const domainAdds = counted.filter((id) => !counters.at(id).hostname && counters.at(id).spec.kind !== 'owners');
    for (const term of rung.spread) {
      const counter = this.spreadCounter(rules, term);
      const { maxSkew, minDomains } = term;
      if (isHostname(term.topologyKey))
        hostLimits.push({ counter, max: maxSkew, othersMax: term.required ? maxSkew : UNLIMITED });
      else domain.push({ kind: 'spread', counter, maxSkew, minDomains, self: isCounted.has(counter), together: [] });
    }
    for (const terms of [rung.affinity, ...rung.softAffinity]) {
      const together = this.affinityCounters(terms);
      for (const counter of together) {
        const self = isCounted.has(counter);
        counters.at(counter).gathers ||= self;
        if (counters.at(counter).hostname) hostAffinity.push({ counter, self, together });
        else domain.push({ kind: 'affinity', counter, maxSkew: 0, minDomains: 0, self, together });
      }
    }
    for (const [at, term] of [...rung.antiAffinity, ...rung.softAntiAffinity].entries()) {
      const counter = this.matchCounter(term);
      const max = isCounted.has(counter) ? 1 : 0;
      const othersMax = at < rung.antiAffinity.length ? max : UNLIMITED;
      if (isHostname(term.topologyKey)) hostLimits.push({ counter, max, othersMax });
      else domain.push({ kind: 'anti-affinity', counter, maxSkew: 0, minDomains: 0, self: false, together: [] });
    }
    for (const term of rung.antiAffinity) {
      const owners = this.keepAwayCounter(term);
      if (!isHostname(term.topologyKey)) domainAdds.push(owners);
    }
    for (const id of counted) {
      const { spec, hostname } = counters.at(id);
      if (spec.kind === 'owners' && !hostname) {
        domain.push({ kind: 'anti-affinity', counter: id, maxSkew: 0, minDomains: 0, self: false, together: [] });
      }
    }
    const used = [...domain.map(({ counter }) => counter), ...domainAdds];
    const pinKeys = [...new Set(used.map((id) => counters.at(id).spec.topologyKey))].sort();
    const decisive = domainAdds.flatMap((id) =>
      (counters.at(id).spec.filter?.terms ?? []).flatMap((term) => [...term.keys()]),
    );
    const doubtKeys = [...new Set(decisive)].filter((key) => !pinKeys.includes(key) && !isHostname(key)).sort();
    const requirementId = model.states.requirementId(rung.requirements);
    return {
      rung,
      requirementId,
      domain,
      hostLimits: tightest(hostLimits),
      hostAffinity,
      hasAffinity: hostAffinity.length > 0 || domain.some(({ kind }) => kind === 'affinity'),
      domainAdds: [...new Set(domainAdds)],
      pinKeys,
      doubtKeys,
    };
  }
}

function shapeOf({ requests, hostPorts, unsupported }: PodLoad, rules: PodRules): PodShape {
  const { terms, preferredTerms, tolerations, volumes, topology, priority, group } = rules;
  return {
    requests,
    hostPorts,
    unsupported,
    terms,
    preferredTerms,
    tolerations,
    volumes,
    topology,
    priority,
    group,
  };
}

/** Every class has variants of its own: what is found out about one is remembered by its identity. */
function copyOf(variant: Variant): Variant {
  const { rung, requirementId, domain, hostLimits, hostAffinity, hasAffinity, domainAdds, pinKeys, doubtKeys } =
    variant;
  return { rung, requirementId, domain, hostLimits, hostAffinity, hasAffinity, domainAdds, pinKeys, doubtKeys };
}

/** One limit per counter. */
function tightest(limits: readonly HostLimit[]): HostLimit[] {
  const byCounter = new Map<number, HostLimit>();
  for (const { counter, max, othersMax } of limits) {
    const known = byCounter.get(counter) ?? { max, othersMax };
    byCounter.set(counter, {
      counter,
      max: Math.min(max, known.max),
      othersMax: Math.min(othersMax, known.othersMax),
    });
  }
  return [...byCounter.values()];
}

/** A pod counts for affinity only when it matches every term: that is how the scheduler counts. */
function affinitySpecs(terms: readonly AffinityTerm[]): ReturnType<typeof counterSpec>[] {
  const keys = [...new Set(terms.map(({ topologyKey }) => topologyKey))];
  return keys.map((key) => counterSpec('match', key, terms));
}

function sortByName(pods: readonly Pod[]): Pod[] {
  const keyed = pods.map((pod) => ({ pod, key: podKey(pod) }));
  keyed.sort((left, right) => (left.key < right.key ? -1 : 1));
  return keyed.map(({ pod }) => pod);
}
