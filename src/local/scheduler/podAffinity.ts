/** Inter-pod affinity of one pod: counts of the pods that attract or repel it, by topology domain, updated by placements. */
import type { Pod } from '../../api/kinds.ts';
import { affinityTerms, matchesTerm, preferredTerms, type NamespaceLabels, type PodAffinityTerm } from './affinity.ts';
import type { ClusterView, PodGroup } from './clusterView.ts';
import type { NodeInfo } from './nodeInfo.ts';

/** Number of matching pods in each domain of a topology key. */
class DomainCounts {
  readonly topologyKey: string;
  private readonly counts = new Map<string, number>();
  total = 0;

  constructor(topologyKey: string) {
    this.topologyKey = topologyKey;
  }

  add(node: NodeInfo, count: number): void {
    const domain = node.labels[this.topologyKey];
    if (domain === undefined) return;
    this.counts.set(domain, (this.counts.get(domain) ?? 0) + count);
    this.total += count;
  }

  at(node: NodeInfo): number {
    const domain = node.labels[this.topologyKey];
    return domain === undefined ? 0 : (this.counts.get(domain) ?? 0);
  }
}

export const UNMET_AFFINITY = "node(s) didn't match pod affinity rules";

export class PodAffinity {
  private readonly pod: Pod;
  private readonly labelsOf: NamespaceLabels;
  private readonly attracts: readonly PodAffinityTerm[];
  private readonly repels: readonly PodAffinityTerm[];
  private readonly affinity: readonly DomainCounts[];
  private readonly antiAffinity: readonly DomainCounts[];
  /** Pods whose own anti-affinity excludes this one, by topology key. */
  private readonly repelledBy = new Map<string, DomainCounts>();
  /** Sums of weights of preferred terms, by topology key; negative ones repel. */
  private readonly weights = new Map<string, DomainCounts>();

  constructor(pod: Pod, view: ClusterView, labelsOf: NamespaceLabels) {
    this.pod = pod;
    this.labelsOf = labelsOf;
    this.attracts = affinityTerms(pod, 'podAffinity');
    this.repels = affinityTerms(pod, 'podAntiAffinity');
    this.affinity = this.attracts.map(({ topologyKey }) => new DomainCounts(topologyKey));
    this.antiAffinity = this.repels.map(({ topologyKey }) => new DomainCounts(topologyKey));
    for (const group of view.groups) this.addGroup(group, view);
  }

  /** Counts the pod `placed`, which was just assigned to `node`. */
  add(placed: Pod, node: NodeInfo): void {
    this.count(placed, (counts, weight) => counts.add(node, weight));
  }

  rejection(node: NodeInfo): string | undefined {
    if (!this.isAttracted(node)) return UNMET_AFFINITY;
    if (this.antiAffinity.some((counts) => counts.at(node) > 0)) return "node(s) didn't match pod anti-affinity rules";
    for (const counts of this.repelledBy.values()) {
      if (counts.at(node) > 0) return "node(s) didn't satisfy existing pods anti-affinity rules";
    }
    return undefined;
  }

  private isAttracted(node: NodeInfo): boolean {
    if (this.affinity.some(({ topologyKey }) => node.labels[topologyKey] === undefined)) return false;
    if (this.affinity.every((counts) => counts.at(node) > 0)) return true;
    // The first pod of a group with affinity to itself may run anywhere.
    return (
      this.affinity.every(({ total }) => total === 0) &&
      this.attracts.every((term) => matchesTerm(term, this.pod, this.pod, this.labelsOf))
    );
  }

  get hasPreference(): boolean {
    return this.weights.size > 0;
  }

  /** Returns the sum of the weights for a node. */
  preference(node: NodeInfo): number {
    let sum = 0;
    for (const counts of this.weights.values()) sum += counts.at(node);
    return sum;
  }

  private addGroup(group: PodGroup, view: ClusterView): void {
    this.count(group.sample, (counts, weight) => {
      for (const [name, count] of group.nodes) {
        const node = view.node(name);
        if (node) counts.add(node, weight * count);
      }
    });
  }

  /** Calls `add` for every count that includes a pod like `other`. */
  private count(other: Pod, add: (counts: DomainCounts, weight: number) => void): void {
    const labelsOf = this.labelsOf;
    const pod = this.pod;
    if (this.attracts.length > 0 && this.attracts.every((term) => matchesTerm(term, pod, other, labelsOf))) {
      for (const counts of this.affinity) add(counts, 1);
    }
    this.repels.forEach((term, index) => {
      const counts = this.antiAffinity[index];
      if (counts && matchesTerm(term, pod, other, labelsOf)) add(counts, 1);
    });
    for (const term of affinityTerms(other, 'podAntiAffinity')) {
      if (matchesTerm(term, other, pod, labelsOf)) add(domain(this.repelledBy, term.topologyKey), 1);
    }
    for (const [owner, candidate] of [
      [pod, other],
      [other, pod],
    ] as const) {
      for (const { weight, term } of preferredTerms(owner)) {
        if (matchesTerm(term, owner, candidate, labelsOf)) add(domain(this.weights, term.topologyKey), weight);
      }
    }
    // A pod with required affinity to this one attracts it too, with kube-scheduler's weight for that.
    for (const term of affinityTerms(other, 'podAffinity')) {
      if (matchesTerm(term, other, pod, labelsOf)) add(domain(this.weights, term.topologyKey), 1);
    }
  }
}

function domain(counts: Map<string, DomainCounts>, topologyKey: string): DomainCounts {
  let found = counts.get(topologyKey);
  if (!found) counts.set(topologyKey, (found = new DomainCounts(topologyKey)));
  return found;
}
