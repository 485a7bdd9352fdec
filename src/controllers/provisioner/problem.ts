import { READY } from '../../api/conditionTypes.ts';
import type { DaemonSet, Pod } from '../../api/kinds.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Labels } from '../../api/labels.ts';
import type { InstanceType } from '../../cloud/instanceType.ts';
import type { Cluster, ClusterSnapshot } from '../../cluster/cluster.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { podRequests } from '../../pods/podRequests.ts';
import { strictPodRequirements } from '../../constraints/podRequirements.ts';
import { Requirements } from '../../constraints/requirements.ts';
import { untoleratedTaints } from '../../pods/taints.ts';
import type { ExistingNode, Problem } from '../../solver/problem.ts';
import { Quantity } from '../../units/quantity.ts';
import { addResources, maxResources, noResources, subtractResources, type Resources } from '../../units/resources.ts';
import { withRequests, type DefaultRequests } from './limitRanges.ts';

/** A NodePool that machines may be bought from: dynamic, ready, not going away. */
export function isUsable(pool: NodePool): boolean {
  const ready = pool.status?.conditions?.some(({ type, status }) => type === READY && status === 'True') ?? false;
  return ready && pool.spec.replicas === undefined && pool.metadata.deletionTimestamp === undefined;
}

/** Heavier first; among equals the name that sorts last, as users of Karpenter know it. */
export function byPreference(left: NodePool, right: NodePool): number {
  const weight = (right.spec.weight ?? 0) - (left.spec.weight ?? 0);
  return weight || (left.metadata.name > right.metadata.name ? -1 : 1);
}

/** What can be bought for a pool, and what it has already, `nodes` included. */
export interface PoolCatalogue {
  readonly pool: NodePool;
  readonly instanceTypes: readonly InstanceType[];
  readonly used: Resources;
}

/**
 * What the pool has, with machines that have not launched at the largest that they may become: a limit must hold
 * whatever the cloud chooses.
 */
export function usageAtMost(used: Resources, machines: readonly NodeView[], types: readonly InstanceType[]): Resources {
  let usage = used;
  for (const { claim, capacity, deleting } of machines) {
    if (!claim || deleting || claim.status?.capacity !== undefined) continue;
    const named = claim.spec.requirements.find(({ key, operator }) => key === Labels.instanceType && operator === 'In');
    const possible = types.filter(({ name }) => named?.values?.includes(name) ?? true);
    const largest = possible.reduce<Resources>((most, type) => maxResources(most, type.capacity), capacity);
    usage = addResources(usage, subtractResources(largest, capacity));
  }
  return usage;
}

/** How many disks of each driver a node can attach, by the node's name. */
export type VolumeLimits = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Puts a snapshot into the solver's words. `promised` are pods that wait for a machine on its way, by its name. */
export function buildProblem(
  snapshot: ClusterSnapshot,
  pods: readonly Pod[],
  promised: ReadonlyMap<string, readonly Pod[]>,
  catalogues: readonly PoolCatalogue[],
  daemons: readonly Pod[],
  volumeLimits: VolumeLimits = new Map(),
): Problem {
  const candidates = snapshot.nodes.filter(({ deleting }) => !deleting);
  return {
    pods,
    nodes: candidates.map((view) => {
      const limits = volumeLimits.get(view.node?.metadata.name ?? '');
      const node = existingNode(view, promised.get(view.claim?.metadata.name ?? '') ?? [], daemons);
      return limits ? { ...node, volumeLimits: limits } : node;
    }),
    pools: catalogues,
    daemons,
  };
}

function existingNode(view: NodeView, promised: readonly Pod[], daemons: readonly Pod[]): ExistingNode {
  const taken = [view.requested, ...promised.map((pod) => podRequests(pod)), missingDaemons(view, daemons)];
  return {
    name: view.name,
    labels: view.labels,
    taints: view.taints,
    free: subtractResources(view.allocatable, addResources(...taken)),
    pods: [...view.pods, ...promised],
    initialized: view.initialized,
  };
}

/** What daemons will still take from the node: their total less what already runs there. */
function missingDaemons(view: NodeView, daemons: readonly Pod[]): Resources {
  const labels = Requirements.fromLabels(view.labels);
  const expected = daemons.filter(
    (pod) =>
      untoleratedTaints(view.taints, pod.spec?.tolerations).length === 0 &&
      labels.isCompatible(strictPodRequirements(pod)),
  );
  const total = expected.reduce<Resources>((sum, pod) => addResources(sum, podRequests(pod)), noResources);
  const missing = subtractResources(total, view.daemonRequested);
  const zero = Object.fromEntries(Object.keys(missing).map((name) => [name, Quantity.zero]));
  return maxResources(missing, zero);
}

/** One pod per DaemonSet: the newest that it has, or else what its template says, free to go to any node. */
export function daemonPods(cluster: Cluster, defaults: DefaultRequests = new Map()): readonly Pod[] {
  return cluster.snapshot().daemonSets.map((daemonSet) => {
    const template = templatePod(daemonSet, defaults.get(daemonSet.metadata.namespace ?? ''));
    const real = cluster.newestDaemonPod(daemonSet);
    if (!real) return template;
    // A real daemon pod is pinned to its node by an affinity of its own.
    const { affinity: _pinned, nodeName: _bound, ...spec } = real.spec ?? { containers: [] };
    return { ...real, spec: { ...spec, ...(template.spec?.affinity && { affinity: template.spec.affinity }) } };
  });
}

/** The namespaces of DaemonSets of which no pod has been seen. */
export function unseenDaemonNamespaces(cluster: Cluster): ReadonlySet<string> {
  const unseen = cluster.snapshot().daemonSets.filter((daemonSet) => !cluster.newestDaemonPod(daemonSet));
  return new Set(unseen.map(({ metadata }) => metadata.namespace ?? ''));
}

function templatePod({ metadata, spec }: DaemonSet, defaults: Readonly<Record<string, string>> | undefined): Pod {
  const template = spec?.template;
  const { containers = [], initContainers = [] } = template?.spec ?? {};
  return {
    metadata: {
      name: metadata.name,
      ...(metadata.namespace && { namespace: metadata.namespace }),
      labels: template?.metadata?.labels ?? {},
    },
    spec: {
      ...template?.spec,
      containers: containers.map((container) => withRequests(container, defaults)),
      ...(initContainers.length > 0 && {
        initContainers: initContainers.map((container) => withRequests(container, defaults)),
      }),
    },
  };
}
