/**
 * What runs already, counted. In: the nodes that are there and their pods; out: per counter how many pods each node and
 * each domain has. Worked out once per counter and kept with the model: a question only takes off what it removes.
 */
import type { Pod } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { isSelected, topologyTerms, type AffinityTerm, type NamespaceLabels } from '../../constraints/topology.ts';
import type { ExistingNodes } from './existingNodes.ts';
import { Interner } from './interner.ts';
import type { StateTable } from './stateTable.ts';
import { isHostname, keepAwaySpec, type CounterSpec, type NodeFilter } from './topologyCounter.ts';

/** What a counter starts with. */
export interface Tally {
  /** On nodes that take part. */
  readonly byNode: Int32Array;
  readonly byDomain: readonly number[];
  readonly total: number;
  /** By domain: nodes that take part. */
  readonly nodesOf: readonly number[];
}

export interface KeepAway {
  readonly spec: CounterSpec;
  readonly nodes: Set<number>;
}

/** Counters remembered, for those who keep a model for long and ask about ever new pods. */
const MAX_REMEMBERED = 4096;

export class RunningPods {
  /** Required anti-affinity of pods that run: whom they keep away, and from which nodes. */
  readonly keepAway: readonly KeepAway[];
  private readonly existing: ExistingNodes;
  private readonly states: StateTable;
  private readonly pools: number;
  private readonly namespaces: NamespaceLabels;
  private readonly domainsOfKey = new Map<string, Interner<string>>();
  private readonly nodeDomains = new Map<string, Int32Array>();
  private readonly tallies = new Map<string, Tally>();
  /** By label of running pods: the nodes that have such pods. */
  private nodesByLabel: Map<string, number[]> | undefined;

  constructor(existing: ExistingNodes, states: StateTable, pools: number, namespaces: NamespaceLabels) {
    this.existing = existing;
    this.states = states;
    this.pools = pools;
    this.namespaces = namespaces;
    this.keepAway = this.findKeepAway();
  }

  /** Every value of the key that there is on nodes or for sale, numbered in order. */
  domains(key: string): Interner<string> {
    const known = this.domainsOfKey.get(key);
    if (known !== undefined) return known;
    const domains = new Interner<string>();
    this.domainsOfKey.set(key, domains);
    if (isHostname(key)) return domains;
    const values = new Set<string>();
    for (let pool = 0; pool < this.pools; pool++) {
      for (const value of this.states.valuesOf(this.states.base(pool), key)) values.add(value);
    }
    for (let node = 0; node < this.existing.nodes.length; node++) {
      const value = this.existing.label(node, key);
      if (value !== undefined) values.add(value);
    }
    for (const value of [...values].sort()) domains.intern(value, () => value);
    return domains;
  }

  /** By node: its domain, or -1 where it lacks the label. Each hostname is a domain of its own and not numbered. */
  domainOfNodes(key: string): Int32Array {
    const known = this.nodeDomains.get(key);
    if (known !== undefined) return known;
    const domains = this.domains(key);
    const found = new Int32Array(this.existing.nodes.length).fill(-1);
    if (key !== Labels.hostname) {
      for (let node = 0; node < found.length; node++) {
        const value = this.existing.label(node, key);
        if (value !== undefined) found[node] = domains.intern(value, () => value);
      }
    }
    this.nodeDomains.set(key, found);
    return found;
  }

  nodePasses(filter: NodeFilter | undefined, node: number): boolean {
    if (filter === undefined) return true;
    const { existing, states } = this;
    if (filter.terms && !filter.terms.some((term) => existing.meets(node, term, states.requirementId(term))))
      return false;
    if (filter.tolerations === undefined) return true;
    return existing.tolerates(node, filter.tolerations, JSON.stringify(filter.tolerations), true);
  }

  tally(spec: CounterSpec): Tally {
    const known = this.tallies.get(spec.key);
    if (known !== undefined) return known;
    const domainOf = this.domainOfNodes(spec.topologyKey);
    const byNode = new Int32Array(this.existing.nodes.length);
    const byDomain: number[] = [];
    const nodesOf: number[] = [];
    let total = 0;
    const isFiltered = spec.filter?.terms !== undefined || spec.filter?.tolerations !== undefined;
    for (const node of this.nodesWith(spec)) {
      const count = this.countOn(node, spec);
      if (count === 0 || (isFiltered && !this.nodePasses(spec.filter, node))) continue;
      const domain = domainOf[node]!;
      byNode[node] = count;
      if (domain >= 0) byDomain[domain] = (byDomain[domain] ?? 0) + count;
      if (domain >= 0 || isHostname(spec.topologyKey)) total += count;
    }
    for (let node = 0; node < domainOf.length; node++) {
      const domain = domainOf[node]!;
      if (domain < 0 || (isFiltered && !this.nodePasses(spec.filter, node))) continue;
      nodesOf[domain] = (nodesOf[domain] ?? 0) + 1;
    }
    const tally = { byNode, byDomain, total, nodesOf };
    if (this.tallies.size >= MAX_REMEMBERED) this.tallies.clear();
    this.tallies.set(spec.key, tally);
    return tally;
  }

  private countOn(node: number, spec: CounterSpec): number {
    let count = 0;
    for (const pod of this.existing.nodes[node]!.pods) {
      const counts =
        spec.kind === 'owners' ? this.antiAffinityTerms(pod).some((term) => spec.owns(term)) : isCounted(pod, spec);
      if (counts) count += 1;
    }
    return count;
  }

  /** Nodes that may have pods which the counter counts: where a label is asked for, only those that have it. */
  private nodesWith(spec: CounterSpec): Iterable<number> {
    const asked = spec.selections.flatMap(({ selector }) => Object.entries(selector?.matchLabels ?? {}))[0];
    if (spec.kind === 'owners' || asked === undefined) return this.existing.nodes.keys();
    this.nodesByLabel ??= this.indexLabels();
    return this.nodesByLabel.get(`${asked[0]}\n${asked[1]}`) ?? [];
  }

  private indexLabels(): Map<string, number[]> {
    const index = new Map<string, number[]>();
    this.existing.nodes.forEach(({ pods }, node) => {
      for (const { metadata } of pods) {
        for (const [key, value] of Object.entries(metadata.labels ?? {})) {
          const name = `${key}\n${value}`;
          const nodes = index.get(name);
          if (nodes === undefined) index.set(name, [node]);
          else if (nodes.at(-1) !== node) nodes.push(node);
        }
      }
    });
    return index;
  }

  private findKeepAway(): KeepAway[] {
    const found = new Map<string, KeepAway>();
    this.existing.nodes.forEach(({ pods }, node) => {
      for (const pod of pods) {
        for (const term of this.antiAffinityTerms(pod)) {
          const spec = keepAwaySpec(term);
          const known = found.get(spec.key) ?? { spec, nodes: new Set<number>() };
          found.set(spec.key, known);
          known.nodes.add(node);
        }
      }
    });
    return [...found.values()];
  }

  private antiAffinityTerms(pod: Pod): readonly AffinityTerm[] {
    const required = pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    return required.length === 0 ? [] : topologyTerms(pod, this.namespaces).antiAffinity;
  }
}

function isCounted({ metadata }: Pod, spec: CounterSpec): boolean {
  // The scheduler's spread does not look at pods that are on their way out; its affinity does.
  if (spec.kind === 'spread' && metadata.deletionTimestamp !== undefined) return false;
  return spec.selections.every((selection) => isSelected(selection, metadata.namespace ?? 'default', metadata.labels));
}
