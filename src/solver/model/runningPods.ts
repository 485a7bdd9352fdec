/**
 * Running pods, counted per counter by node and by domain. Computed once per counter, kept with the model and updated
 * on read; a what-if only subtracts what it removes.
 */
import type { Pod } from '../../api/kinds.ts';
import type { Requirements } from '../../constraints/requirements.ts';
import { isSelected, type NamespaceLabels } from '../../constraints/topology.ts';
import { intAt, itemAt } from '../rows.ts';
import { DomainTable, NO_DOMAIN } from './domainTable.ts';
import type { ExistingNodes } from './existingNodes.ts';
import { antiAffinityTerms, KeepAwayTerms, type KeepAway } from './keepAway.ts';
import { PodLabels } from './podLabels.ts';
import type { StateTable } from './stateTable.ts';
import { Tally } from './tally.ts';
import { labelOf, type CounterSpec, type NodeFilter } from './topologyCounter.ts';

/** Cached tables of each type. */
const MAX_TALLIES = 4096;
const MAX_TABLES = 64;
const MAX_PARTICIPATIONS = 256;

/** Nodes that take part in a spread. */
interface Participation {
  readonly table: DomainTable;
  version: number;
  /** By domain. */
  readonly nodesIn: number[];
  /** By row: the domain in which the node takes part, or `NO_DOMAIN`. */
  readonly domainOf: Int32Array;
}

export class RunningPods {
  private readonly existing: ExistingNodes;
  private readonly states: StateTable;
  private readonly pools: number;
  private readonly namespaces: NamespaceLabels;
  private readonly labels: PodLabels;
  private keepAwayTerms: KeepAwayTerms | undefined;
  private readonly tables = new Map<string, DomainTable>();
  private readonly tallies = new Map<string, Tally>();
  private readonly participations = new Map<string, Participation>();
  /** By filter: the numbers of its terms. */
  private readonly filterTerms = new Map<string, readonly number[]>();

  constructor(existing: ExistingNodes, states: StateTable, pools: number, namespaces: NamespaceLabels) {
    this.existing = existing;
    this.states = states;
    this.pools = pools;
    this.namespaces = namespaces;
    this.labels = new PodLabels(existing);
  }

  /** Anti-affinity terms of running pods that reject one of these pods on some nodes. */
  keepingAway(pods: readonly Pod[]): readonly KeepAway[] {
    return this.keepAway().selecting(pods);
  }

  private keepAway(): KeepAwayTerms {
    if (this.keepAwayTerms?.catchUp() !== true) this.keepAwayTerms = KeepAwayTerms.of(this.existing, this.namespaces);
    return this.keepAwayTerms;
  }

  domains(key: string): DomainTable {
    const known = this.tables.get(key);
    if (known?.catchUp() === true) return known;
    const offered = new Set<string>();
    for (let pool = 0; pool < this.pools; pool++) {
      for (const value of this.states.valuesOf(this.states.base(pool), key)) offered.add(value);
    }
    if (known === undefined && this.tables.size >= MAX_TABLES) this.tables.clear();
    const made = DomainTable.of(key, this.existing, offered);
    this.tables.set(key, made);
    return made;
  }

  nodePasses(filter: NodeFilter | undefined, row: number): boolean {
    if (filter === undefined) return true;
    const { existing } = this;
    if (filter.terms) {
      const ids = this.termIds(filter, filter.terms);
      if (!filter.terms.some((term, at) => existing.meets(row, term, itemAt(ids, at)))) return false;
    }
    if (filter.tolerations === undefined) return true;
    return existing.tolerates(row, filter.tolerations, filter.tolerationsKey, true);
  }

  /** Cached numbers of the filter's terms: computing a term's name takes longer than checking a node. */
  private termIds({ key }: NodeFilter, terms: readonly Requirements[]): readonly number[] {
    let ids = this.filterTerms.get(key);
    if (ids === undefined) {
      if (this.filterTerms.size >= MAX_PARTICIPATIONS) this.filterTerms.clear();
      ids = terms.map((term) => this.states.requirementId(term));
      this.filterTerms.set(key, ids);
    }
    return ids;
  }

  tally(spec: CounterSpec): Tally {
    const table = this.domains(spec.topologyKey);
    const known = this.tallies.get(spec.key);
    if (known !== undefined && known.table === table && known.catchUp()) return known;
    if (known === undefined && this.tallies.size >= MAX_TALLIES) this.tallies.clear();
    const made = Tally.of(spec, table, this.existing, this.counts(spec), (row) => this.countOn(row, spec));
    this.tallies.set(spec.key, made);
    return made;
  }

  /** By domain: number of nodes that take part in the spread. */
  participants({ topologyKey, filter }: CounterSpec): readonly number[] {
    const table = this.domains(topologyKey);
    if (filter === undefined || (filter.terms === undefined && filter.tolerations === undefined)) return table.nodesIn;
    const key = `${topologyKey}\n${filter.key}`;
    const { changes, closed, rows } = this.existing;
    const known = this.participations.get(key);
    const changed = known?.table === table && known.domainOf.length >= rows ? changes.since(known.version) : undefined;
    const found: Participation =
      known !== undefined && changed !== undefined
        ? known
        : {
            table,
            version: changes.version,
            nodesIn: table.values.map(() => 0),
            domainOf: new Int32Array(closed.length).fill(NO_DOMAIN),
          };
    for (const row of changed ?? this.existing.order) {
      const before = intAt(found.domainOf, row);
      const own = intAt(table.domainOf, row);
      const now = own >= 0 && this.nodePasses(filter, row) ? own : NO_DOMAIN;
      if (before >= 0) found.nodesIn[before] = itemAt(found.nodesIn, before) - 1;
      if (now >= 0) found.nodesIn[now] = itemAt(found.nodesIn, now) + 1;
      found.domainOf[row] = now;
    }
    found.version = changes.version;
    if (known === undefined && this.participations.size >= MAX_PARTICIPATIONS) this.participations.clear();
    this.participations.set(key, found);
    return found.nodesIn;
  }

  private countOn(row: number, spec: CounterSpec): number {
    const labelled = this.labelled(spec);
    const pods = labelled === undefined ? itemAt(this.existing.nodes, row).pods : (labelled.get(row) ?? []);
    return this.countIn(pods, row, spec);
  }

  /** For each node that may have pods that the counter counts: its row and their number. */
  private *counts(spec: CounterSpec): Iterable<readonly [row: number, count: number]> {
    const { nodes, order } = this.existing;
    const labelled = this.labelled(spec);
    if (labelled !== undefined) {
      for (const [row, pods] of labelled) yield [row, this.countIn(pods, row, spec)];
      return;
    }
    const rows = spec.kind === 'owners' ? this.keepAway().nodesWith(spec.key) : order;
    for (const row of rows) yield [row, this.countIn(itemAt(nodes, row).pods, row, spec)];
  }

  private countIn(pods: readonly Pod[], row: number, spec: CounterSpec): number {
    let count = 0;
    for (const pod of pods) {
      const counts =
        spec.kind === 'owners'
          ? antiAffinityTerms(pod, this.namespaces).some((term) => spec.owns(term))
          : isCounted(pod, spec);
      if (counts) count += 1;
    }
    return count > 0 && this.nodePasses(spec.filter, row) ? count : 0;
  }

  /** Where the counter requires a label: pods with that label. */
  private labelled(spec: CounterSpec): ReadonlyMap<number, readonly Pod[]> | undefined {
    const label = spec.kind === 'owners' ? '' : labelOf(spec);
    if (label === '') return undefined;
    const at = label.indexOf('\n');
    return this.labels.podsWith(label.slice(0, at), label.slice(at + 1));
  }
}

function isCounted({ metadata }: Pod, spec: CounterSpec): boolean {
  // The scheduler's spread ignores pods that are being deleted; its affinity does not.
  if (spec.kind === 'spread' && metadata.deletionTimestamp !== undefined) return false;
  return spec.selections.every((selection) => isSelected(selection, metadata.namespace ?? 'default', metadata.labels));
}
