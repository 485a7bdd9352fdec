/** Topology spread of one pod: counts of matching pods by constraint and domain, updated by placements. */
import type { Pod } from '../../api/kinds.ts';
import { matchesLabelSelector } from '../../pods/labelSelector.ts';
import { matchesNodeAffinity } from '../../pods/nodeSelector.ts';
import { isTolerated } from '../../pods/taints.ts';
import type { ClusterView } from './clusterView.ts';
import type { NodeInfo } from './nodeInfo.ts';

type Constraint = NonNullable<NonNullable<Pod['spec']>['topologySpreadConstraints']>[number];

/** Whether the node counts for the constraint (by nodeAffinityPolicy, nodeTaintsPolicy, and its topology key). */
function isEligible(pod: Pod, constraint: Constraint, node: NodeInfo): boolean {
  if (node.labels[constraint.topologyKey] === undefined) return false;
  if (constraint.nodeAffinityPolicy !== 'Ignore' && !matchesNodeAffinity(pod, node.node)) return false;
  if (constraint.nodeTaintsPolicy !== 'Honor') return true;
  return node.taints.every((taint) => taint.effect === 'PreferNoSchedule' || isTolerated(taint, pod.spec?.tolerations));
}

function selects(constraint: Constraint, owner: Pod, candidate: Pod): boolean {
  if (candidate.metadata.namespace !== owner.metadata.namespace || candidate.metadata.deletionTimestamp) return false;
  const own = owner.metadata.labels ?? {};
  const labels = candidate.metadata.labels ?? {};
  return (
    matchesLabelSelector(constraint.labelSelector, labels) &&
    (constraint.matchLabelKeys ?? []).every((key) => own[key] === undefined || own[key] === labels[key])
  );
}

class Spread {
  readonly constraint: Constraint;
  readonly hard: boolean;
  private readonly pod: Pod;
  private readonly self: number;
  /** Matching pods in each domain with an eligible node. */
  private readonly counts = new Map<string, number>();
  private readonly eligible = new Set<string>();
  private minimum: number | undefined;

  constructor(pod: Pod, constraint: Constraint, view: ClusterView) {
    this.pod = pod;
    this.constraint = constraint;
    this.hard = constraint.whenUnsatisfiable !== 'ScheduleAnyway';
    this.self = selects(constraint, pod, pod) ? 1 : 0;
    for (const node of view.nodes) {
      if (!isEligible(pod, constraint, node)) continue;
      this.eligible.add(node.name);
      const domain = node.labels[constraint.topologyKey] ?? '';
      if (!this.counts.has(domain)) this.counts.set(domain, 0);
    }
    for (const { sample, nodes } of view.groups) {
      if (!selects(constraint, pod, sample)) continue;
      for (const [name, count] of nodes) {
        const node = view.node(name);
        if (node && this.eligible.has(name)) this.count(node, count);
      }
    }
  }

  add(placed: Pod, node: NodeInfo): void {
    if (this.eligible.has(node.name) && selects(this.constraint, this.pod, placed)) this.count(node, 1);
  }

  countAt(node: NodeInfo): number {
    return this.counts.get(node.labels[this.constraint.topologyKey] ?? '') ?? 0;
  }

  isBroken(node: NodeInfo): boolean {
    return this.countAt(node) + this.self - this.least() > this.constraint.maxSkew;
  }

  get domains(): number {
    return this.counts.size;
  }

  private count(node: NodeInfo, count: number): void {
    const domain = node.labels[this.constraint.topologyKey] ?? '';
    this.counts.set(domain, (this.counts.get(domain) ?? 0) + count);
    this.minimum = undefined;
  }

  private least(): number {
    if (this.counts.size < (this.constraint.minDomains ?? 1)) return 0;
    if (this.minimum === undefined) {
      this.minimum = Number.POSITIVE_INFINITY;
      for (const count of this.counts.values()) this.minimum = Math.min(this.minimum, count);
    }
    return this.minimum;
  }
}

export const MISSING_LABEL = "node(s) didn't match pod topology spread constraints (missing required label)";

export class TopologySpread {
  private readonly hard: readonly Spread[];
  private readonly soft: readonly Spread[];

  constructor(pod: Pod, view: ClusterView) {
    const all = (pod.spec?.topologySpreadConstraints ?? []).map((constraint) => new Spread(pod, constraint, view));
    this.hard = all.filter(({ hard }) => hard);
    this.soft = all.filter(({ hard }) => !hard);
  }

  add(placed: Pod, node: NodeInfo): void {
    for (const spread of this.hard) spread.add(placed, node);
    for (const spread of this.soft) spread.add(placed, node);
  }

  rejection(node: NodeInfo): string | undefined {
    for (const spread of this.hard) {
      if (node.labels[spread.constraint.topologyKey] === undefined) return MISSING_LABEL;
      if (spread.isBroken(node)) return "node(s) didn't match pod topology spread constraints";
    }
    return undefined;
  }

  get hasPreference(): boolean {
    return this.soft.length > 0;
  }

  /** Returns the weighted number of matching pods in the node's domains, infinite without the key; less is better. */
  crowding(node: NodeInfo): number {
    let sum = 0;
    for (const spread of this.soft) {
      if (node.labels[spread.constraint.topologyKey] === undefined) return Number.POSITIVE_INFINITY;
      // Like in kube-scheduler, the weight depends on the number of domains.
      sum += spread.countAt(node) * Math.log(spread.domains + 2) + (spread.constraint.maxSkew - 1);
    }
    return sum;
  }
}
