/**
 * Pods per domain, for one question. In: counter specs; out: integers per domain, seeded with what runs on the nodes
 * that are there, and which domains there are at all.
 */
import { untoleratedTaints } from '../../pods/taints.ts';
import { isPreferred } from './existingNodes.ts';
import type { Interner } from './interner.ts';
import type { Model } from './model.ts';
import type { KeepAway } from './runningPods.ts';
import { isHostname, type CounterSpec, type NodeFilter } from './topologyCounter.ts';

export const UNLIMITED = 0x3fffffff;

export interface Counter {
  readonly spec: CounterSpec;
  readonly hostname: boolean;
  /** Domain values of the key; counters of one key share them. */
  readonly domains: Interner<string>;
  /** By domain: pods on nodes that surely take part. */
  readonly counts: number[];
  /** By domain: pods on new machines that take part or not, depending on the type that is bought in the end. */
  readonly doubtful: number[];
  total: number;
  /** Some of those whom it counts look for each other: wherever there is a choice, they stand together. */
  gathers: boolean;
  /** Hostname only, by existing node: pods there, and the most that may be. */
  readonly onNode: Int32Array;
  readonly nodeLimit: Int32Array;
}

export class Counters {
  readonly all: Counter[] = [];
  /** By pool: the state that its new machines start in for this question. */
  bases: readonly number[];
  private readonly model: Model;
  /** Nodes that are not there. */
  private readonly removed: ReadonlySet<number>;
  private readonly ids = new Map<string, number>();
  private readonly passing = new Map<string, 'yes' | 'no' | 'maybe'>();
  private readonly eligibleDomains = new Map<number, Int32Array>();

  constructor(model: Model, removed: ReadonlySet<number>) {
    this.model = model;
    this.removed = removed;
    this.bases = model.pools.map(({ index }) => model.states.base(index));
  }

  at(id: number): Counter {
    return this.all[id]!;
  }

  add(spec: CounterSpec): number {
    const known = this.ids.get(spec.key);
    if (known !== undefined) return known;
    const hostname = isHostname(spec.topologyKey);
    const nodes = hostname ? this.model.existing.nodes.length : 0;
    const id = this.all.length;
    this.ids.set(spec.key, id);
    this.all.push({
      spec,
      hostname,
      domains: this.domains(spec.topologyKey),
      counts: [],
      doubtful: [],
      total: 0,
      gathers: false,
      onNode: new Int32Array(nodes),
      nodeLimit: new Int32Array(nodes).fill(UNLIMITED),
    });
    return id;
  }

  /** Counts what runs. Called once, when all counters are known. */
  seed(keepAway: readonly KeepAway[]): void {
    const { running } = this.model;
    for (const counter of this.all) {
      const { byNode, byDomain, total } = running.tally(counter.spec);
      byDomain.forEach((count, domain) => (counter.counts[domain] = count));
      counter.total = total;
      if (counter.hostname) counter.onNode.set(byNode);
      const domainOf = running.domainOfNodes(counter.spec.topologyKey);
      for (const node of this.removed) {
        const domain = domainOf[node]!;
        if (domain >= 0) this.count(counter, domain, -byNode[node]!);
        else if (counter.hostname) {
          counter.onNode[node] = 0;
          counter.total -= byNode[node]!;
        }
      }
    }
    for (const { spec, nodes } of keepAway) {
      const counter = this.at(this.add(spec));
      if (!counter.hostname) continue;
      for (const node of nodes) {
        if (this.removed.has(node)) continue;
        // Whom the term selects may not come at all; those who are there stay.
        counter.nodeLimit[node] = Math.min(counter.nodeLimit[node]!, counter.onNode[node]!);
      }
    }
  }

  count(counter: Counter, domain: number, amount: number): void {
    counter.counts[domain] = (counter.counts[domain] ?? 0) + amount;
    counter.total += amount;
  }

  domains(key: string): Interner<string> {
    return this.model.running.domains(key);
  }

  /** By existing node: its domain, or -1 where it lacks the label. */
  domainOfNodes(key: string): Int32Array {
    return this.model.running.domainOfNodes(key);
  }

  nodePasses(filter: NodeFilter | undefined, node: number): boolean {
    return this.model.running.nodePasses(filter, node);
  }

  /** Whether a new machine in this state takes part. */
  statePasses(counterId: number, state: number): 'yes' | 'no' | 'maybe' {
    const { spec } = this.at(counterId);
    const { filter } = spec;
    if (filter === undefined || (filter.terms === undefined && filter.tolerations === undefined)) return 'yes';
    const key = `${counterId}/${state}`;
    const known = this.passing.get(key);
    if (known !== undefined) return known;
    const { states } = this.model;
    const own = states.at(state).offerings.length;
    let byLabels: 'yes' | 'no' | 'maybe' = filter.terms === undefined ? 'yes' : 'no';
    for (const term of filter.terms ?? []) {
      const narrowed = states.narrow(state, states.requirementId(term));
      if (narrowed < 0 || byLabels === 'yes') continue;
      byLabels = states.at(narrowed).offerings.length === own ? 'yes' : 'maybe';
    }
    const { taints } = states.at(state).pool;
    const hard =
      filter.tolerations && untoleratedTaints(taints, filter.tolerations).filter((taint) => !isPreferred(taint));
    const passes = hard === undefined || hard.length === 0 ? byLabels : 'no';
    this.passing.set(key, passes);
    return passes;
  }

  /** Domains that a spread compares: those of nodes that take part, and those that new machines could open. */
  eligible(counterId: number): Int32Array {
    const known = this.eligibleDomains.get(counterId);
    if (known !== undefined) return known;
    const { spec, domains } = this.at(counterId);
    const { states, pools, running } = this.model;
    const nodesOf = [...running.tally(spec).nodesOf];
    const domainOf = running.domainOfNodes(spec.topologyKey);
    for (const node of this.removed) {
      const domain = domainOf[node]!;
      if (domain >= 0 && this.nodePasses(spec.filter, node)) nodesOf[domain]! -= 1;
    }
    const found = new Set<number>();
    nodesOf.forEach((nodes, domain) => {
      if (nodes > 0) found.add(domain);
    });
    pools.forEach((pool, index) => {
      const base = this.bases[index]!;
      if (base < 0) return;
      const tolerations = spec.filter?.tolerations;
      if (tolerations && untoleratedTaints(pool.taints, tolerations).some((taint) => !isPreferred(taint))) return;
      const narrowed = spec.filter?.terms?.map((term) => states.narrow(base, states.requirementId(term))) ?? [base];
      for (const state of narrowed) {
        if (state < 0) continue;
        for (const value of states.valuesOf(state, spec.topologyKey)) found.add(domains.intern(value, () => value));
      }
    });
    const list = Int32Array.from([...found].sort((left, right) => left - right));
    this.eligibleDomains.set(counterId, list);
    return list;
  }
}
