/** Pods per domain while one demand is planned: seeded with the running pods, updated as pods are placed. */
import { untoleratedTaints } from '../../pods/taints.ts';
import { itemAt, intAt } from '../rows.ts';
import type { DomainTable } from './domainTable.ts';
import { HostCounts } from './hostCounts.ts';
import type { KeepAway } from './keepAway.ts';
import type { Model } from './model.ts';
import { isPreferred } from './nodeKinds.ts';
import { isHostname, type CounterSpec, type NodeFilter } from './topologyCounter.ts';

/**
 * Placeholder for a label that the node must have but that no requirement gives a value: its claim draws a number, and
 * two claims may draw the same one. Not a valid label value, so it cannot clash.
 */
export const DRAWN_VALUE = '(any)';

/** Numbers the domains of a key: those of the model, plus those that only this demand can open. */
export class DomainNames {
  readonly table: DomainTable;
  private readonly opened: string[] = [];

  constructor(table: DomainTable) {
    this.table = table;
  }

  get values(): readonly string[] {
    return this.opened.length === 0 ? this.table.values : [...this.table.values, ...this.opened];
  }

  at(domain: number): string {
    return itemAt(this.values, domain);
  }

  numberOf(value: string): number {
    const known = this.table.idOf.get(value);
    if (known !== undefined) return known;
    const { length } = this.table.values;
    const at = this.opened.indexOf(value);
    return length + (at < 0 ? this.opened.push(value) - 1 : at);
  }

  /** Domain of nodes whose claims draw a value; -1 until there is such a node. */
  get drawn(): number {
    const at = this.opened.indexOf(DRAWN_VALUE);
    return at < 0 ? at : this.table.values.length + at;
  }

  /** Whether a claim could draw this value. */
  mayBeDrawn(domain: number): boolean {
    return /^\d+$/.test(this.at(domain));
  }
}

export interface Counter {
  readonly spec: CounterSpec;
  readonly hostname: boolean;
  /** Shared by the counters of one key. */
  readonly domains: DomainNames;
  /** By domain: pods on nodes that definitely take part. */
  readonly counts: number[];
  /** By domain: pods on planned nodes that take part or not depending on the instance type finally bought. */
  readonly doubtful: number[];
  total: number;
  /** Some counted pods have affinity to each other, so they are placed together where possible. */
  gathers: boolean;
  /** Hostname only: pods per existing node, and the limit there. */
  readonly hosts: HostCounts;
}

export class Counters {
  readonly all: Counter[] = [];
  /** By pool: initial state of its planned nodes for this demand. */
  bases: readonly number[];
  private readonly model: Model;
  /** Rows of nodes that the overlay removes. */
  private readonly removed: ReadonlySet<number>;
  private readonly ids: Map<string, number>;
  private readonly names: Map<string, DomainNames>;
  private readonly passing: Map<string, 'yes' | 'no' | 'maybe'>;
  private readonly eligibleDomains: Map<number, Int32Array>;

  constructor(model: Model, removed: ReadonlySet<number>, shared?: Counters) {
    this.model = model;
    this.removed = removed;
    this.bases = shared?.bases ?? model.pools.map(({ index }) => model.states.base(index));
    this.ids = shared?.ids ?? new Map<string, number>();
    this.names = shared?.names ?? new Map<string, DomainNames>();
    this.passing = shared?.passing ?? new Map<string, 'yes' | 'no' | 'maybe'>();
    this.eligibleDomains = shared?.eligibleDomains ?? new Map<number, Int32Array>();
  }

  /** Copies the current counts; what is known about nodes and states is shared. */
  copy(): Counters {
    const copy = new Counters(this.model, this.removed, this);
    for (const counter of this.all) {
      const { counts, doubtful, hosts } = counter;
      copy.all.push({ ...counter, counts: counts.slice(), doubtful: doubtful.slice(), hosts: hosts.copy() });
    }
    return copy;
  }

  at(id: number): Counter {
    return itemAt(this.all, id);
  }

  add(spec: CounterSpec): number {
    const known = this.ids.get(spec.key);
    if (known !== undefined) return known;
    const hostname = isHostname(spec.topologyKey);
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
      hosts: new HostCounts(),
    });
    return id;
  }

  /** Counts the running pods. Call once, after all counters are registered. */
  seed(keepAway: readonly KeepAway[]): void {
    const { running } = this.model;
    for (const counter of this.all) {
      const tally = running.tally(counter.spec);
      tally.byDomain.forEach((count, domain) => (counter.counts[domain] = count));
      counter.total = tally.total;
      if (counter.hostname) counter.hosts.seed(tally);
      for (const row of this.removed) {
        const domain = intAt(tally.table.domainOf, row);
        if (domain >= 0) this.count(counter, domain, -tally.on(row));
        else if (counter.hostname) {
          counter.hosts.add(row, -tally.on(row));
          counter.total -= tally.on(row);
        }
      }
    }
    // No pod that the term selects may be added there; pods already there stay. Removed nodes need no entry.
    for (const { spec, nodes } of keepAway) {
      const counter = this.at(this.add(spec));
      if (counter.hostname) counter.hosts.close(nodes);
    }
  }

  count(counter: Counter, domain: number, amount: number): void {
    counter.counts[domain] = (counter.counts[domain] ?? 0) + amount;
    counter.total += amount;
  }

  domains(key: string): DomainNames {
    let names = this.names.get(key);
    if (names === undefined) {
      names = new DomainNames(this.model.running.domains(key));
      this.names.set(key, names);
    }
    return names;
  }

  /** By row of an existing node: its domain, or -1 if it lacks the label. */
  domainOfNodes(key: string): Int32Array {
    return this.domains(key).table.domainOf;
  }

  nodePasses(filter: NodeFilter | undefined, node: number): boolean {
    return this.model.running.nodePasses(filter, node);
  }

  /** Whether a planned node in this state takes part in the spread. */
  statePasses(counterId: number, state: number): 'yes' | 'no' | 'maybe' {
    const { spec } = this.at(counterId);
    const { filter } = spec;
    if (filter === undefined || (filter.terms === undefined && filter.tolerations === undefined)) return 'yes';
    const key = `${counterId}/${state}`;
    const known = this.passing.get(key);
    if (known !== undefined) return known;
    const { states } = this.model;
    let byLabels: 'yes' | 'no' | 'maybe' = filter.terms === undefined ? 'yes' : 'no';
    for (const term of filter.terms ?? []) {
      const narrowed = states.narrow(state, states.requirementId(term));
      if (narrowed < 0 || byLabels === 'yes') continue;
      byLabels = states.isSurely(state, narrowed, term) ? 'yes' : 'maybe';
    }
    const { taints } = states.at(state).pool;
    const hard =
      filter.tolerations && untoleratedTaints(taints, filter.tolerations).filter((taint) => !isPreferred(taint));
    const passes = hard === undefined || hard.length === 0 ? byLabels : 'no';
    this.passing.set(key, passes);
    return passes;
  }

  /** Domains that a spread compares: those of participating nodes, and those that planned nodes could open. */
  eligible(counterId: number): Int32Array {
    const known = this.eligibleDomains.get(counterId);
    if (known !== undefined) return known;
    const { spec, domains } = this.at(counterId);
    const { states, pools } = this.model;
    const found = this.occupied(spec);
    pools.forEach((pool, index) => {
      const base = itemAt(this.bases, index);
      if (base < 0) return;
      const tolerations = spec.filter?.tolerations;
      if (tolerations && untoleratedTaints(pool.taints, tolerations).some((taint) => !isPreferred(taint))) return;
      const narrowed = spec.filter?.terms?.map((term) => states.narrow(base, states.requirementId(term))) ?? [base];
      for (const state of narrowed) {
        if (state < 0) continue;
        for (const value of states.valuesOf(state, spec.topologyKey)) found.add(domains.numberOf(value));
      }
    });
    const list = Int32Array.from([...found].sort((left, right) => left - right));
    this.eligibleDomains.set(counterId, list);
    return list;
  }

  /** Domains that the scheduler compares if exactly the nodes in these states are added. */
  present(counterId: number, states: Iterable<number>): Int32Array {
    const { spec, domains } = this.at(counterId);
    const found = this.occupied(spec);
    for (const state of states) {
      if (this.statePasses(counterId, state) === 'no') continue;
      for (const value of this.model.states.valuesOf(state, spec.topologyKey)) found.add(domains.numberOf(value));
    }
    return Int32Array.from(found);
  }

  /** Domains of participating existing nodes. */
  private occupied(spec: CounterSpec): Set<number> {
    const nodesIn = [...this.model.running.participants(spec)];
    const domainOf = this.domainOfNodes(spec.topologyKey);
    for (const row of this.removed) {
      const domain = intAt(domainOf, row);
      if (domain >= 0 && this.nodePasses(spec.filter, row)) nodesIn[domain] = itemAt(nodesIn, domain) - 1;
    }
    return new Set(nodesIn.flatMap((nodes, domain) => (nodes > 0 ? [domain] : [])));
  }
}
