import type { TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import type { Pod } from '../../api/kinds.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { matchesLabelSelector } from '../../pods/labelSelector.ts';
import { podKind } from '../../pods/podKind.ts';

type Counts = ReadonlyMap<string, number>;

/**
 * Which pods that the scheduler insists on spreading may be expected in another domain than they were planned for: where all
 * pods are as evenly spread then as they must be, once each is where it is expected.
 */
export class SpreadMoves {
  private readonly cluster: Cluster;
  private readonly views: readonly NodeView[];
  private readonly known = new Map<string, Counts>();

  constructor(cluster: Cluster, views: readonly NodeView[]) {
    this.cluster = cluster;
    this.views = views;
  }

  /** Whether no spread tells these nodes apart. */
  areAlike({ spec }: Pod, from: NodeView, to: NodeView): boolean {
    return hardSpreads(spec).every(({ topologyKey }) => from.labels[topologyKey] === to.labels[topologyKey]);
  }

  mayGo(pod: Pod, from: NodeView, to: NodeView): boolean {
    const spreads = hardSpreads(pod.spec);
    // The scheduler counts a sibling that is nominated there as if it ran, and may find neither allowed.
    if (spreads.length > 0 && this.expectsLike(pod, to)) return false;
    return spreads.every((constraint) => {
      const [left, entered] = [from.labels[constraint.topologyKey], to.labels[constraint.topologyKey]];
      if (left === entered) return true;
      return left !== undefined && entered !== undefined && this.staysEven(pod, constraint, left, entered);
    });
  }

  private expectsLike(pod: Pod, { name }: NodeView): boolean {
    const { kind } = podKind(pod);
    const { places } = this.cluster;
    return places.on(name).some((place) => podKind(place.pod).kind === kind && places.turns.waits(place));
  }

  private staysEven(pod: Pod, constraint: TopologySpreadConstraint, left: string, entered: string): boolean {
    // A pod that is choosy is compared with fewer domains, and one that does not count itself with others only.
    if (isChoosy(pod) || constraint.minDomains !== undefined || !selects(constraint, pod, pod)) return false;
    const counts = this.countsOf(pod, constraint);
    const after = [...counts].map(
      ([domain, count]) => count + (domain === entered ? 1 : 0) - (domain === left ? 1 : 0),
    );
    return Math.max(...after) - Math.min(...after) <= constraint.maxSkew;
  }

  /** How many pods that the spread counts run or are expected in each domain. */
  private countsOf(pod: Pod, constraint: TopologySpreadConstraint): Counts {
    const key = `${podKind(pod).kind} ${constraint.topologyKey}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const counts = new Map<string, number>();
    const { places } = this.cluster;
    for (const { name, labels, pods } of this.views) {
      const domain = labels[constraint.topologyKey];
      if (domain === undefined) continue;
      const expected = places.on(name).flatMap((place) => (places.turns.waits(place) ? [place.pod] : []));
      const count = [...pods, ...expected].filter((each) => selects(constraint, pod, each)).length;
      counts.set(domain, (counts.get(domain) ?? 0) + count);
    }
    this.known.set(key, counts);
    return counts;
  }
}

function hardSpreads(spec: Pod['spec']): readonly TopologySpreadConstraint[] {
  return (spec?.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule',
  );
}

function isChoosy({ spec }: Pod): boolean {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required !== undefined || Object.keys(spec?.nodeSelector ?? {}).length > 0;
}

function selects({ labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint, owner: Pod, other: Pod): boolean {
  if (other.metadata.namespace !== owner.metadata.namespace || other.metadata.deletionTimestamp) return false;
  const [own, labels] = [owner.metadata.labels ?? {}, other.metadata.labels ?? {}];
  return matchesLabelSelector(labelSelector, labels) && matchLabelKeys.every((key) => own[key] === labels[key]);
}
