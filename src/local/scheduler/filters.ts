/** The scheduler's filters: whether a pod can run on a node and, if not, kube-scheduler's reasons. */
import { hostPortsClash } from '../../pods/hostPorts.ts';
import { matchesNodeAffinity } from '../../pods/nodeSelector.ts';
import { isTolerated } from '../../pods/taints.ts';
import type { NamespaceLabels } from './affinity.ts';
import type { ClusterView } from './clusterView.ts';
import type { NodeInfo } from './nodeInfo.ts';
import { PodAffinity, UNMET_AFFINITY } from './podAffinity.ts';
import type { PodInfo } from './podInfo.ts';
import { MISSING_LABEL, TopologySpread } from './topologySpread.ts';
import { volumeRejection, volumeNeeds, type VolumeNeeds, type VolumeSources } from './volumes.ts';

/** A pod to schedule, with the state of the cluster that its constraints depend on. */
export interface CycleState {
  readonly info: PodInfo;
  readonly affinity: PodAffinity;
  readonly spread: TopologySpread;
  readonly volumes: VolumeNeeds | undefined;
  readonly sources: VolumeSources | undefined;
}

export function cycleState(
  info: PodInfo,
  view: ClusterView,
  namespaceLabels: NamespaceLabels,
  sources?: VolumeSources,
): CycleState {
  return {
    info,
    affinity: new PodAffinity(info.pod, view, namespaceLabels),
    spread: new TopologySpread(info.pod, view),
    volumes: sources && info.claims.length > 0 ? volumeNeeds(info.claims, sources) : undefined,
    sources,
  };
}

/** Returns why the pod cannot run on the node; undefined if it can. */
type Filter = (state: CycleState, node: NodeInfo) => string | readonly string[] | undefined;

const CORDONED = 'node(s) were unschedulable';
const TAINTED = 'node(s) had untolerated taint(s)';
/** Reasons that do not depend on the other pods in the cluster. */
export const TAINT_REASONS: ReadonlySet<string> = new Set([CORDONED, TAINTED]);
const UNSCHEDULABLE_TAINT = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const;

export const unschedulable = ({ info }: Pick<CycleState, 'info'>, { node }: NodeInfo): string | undefined =>
  node.spec?.unschedulable && !isTolerated(UNSCHEDULABLE_TAINT, info.pod.spec?.tolerations) ? CORDONED : undefined;

export const taints = ({ info: { pod } }: Pick<CycleState, 'info'>, node: NodeInfo): string | undefined =>
  node.taints.every((taint) => taint.effect === 'PreferNoSchedule' || isTolerated(taint, pod.spec?.tolerations))
    ? undefined
    : TAINTED;

const nodeAffinity: Filter = ({ info }, node) =>
  matchesNodeAffinity(info.pod, node.node) ? undefined : "node(s) didn't match Pod's node affinity/selector";

const resources: Filter = ({ info }, node) => {
  let missing: string[] | undefined;
  for (const [name, amount] of info.requested) {
    if (amount <= node.free(name)) continue;
    (missing ??= []).push(name === 'pods' ? 'Too many pods' : `Insufficient ${name}`);
  }
  return missing;
};

const ports: Filter = ({ info }, node) => {
  if (info.ports.length === 0 || !node.hasPorts) return undefined;
  const used = [...node.pods.values()].flatMap((other) => other.ports);
  const clash = info.ports.some((wanted) => used.some((taken) => hostPortsClash(wanted, taken)));
  return clash ? "node(s) didn't have free ports for the requested pod ports" : undefined;
};

const volumes: Filter = ({ volumes: needs, sources }, node) =>
  needs && sources ? volumeRejection(needs, node, sources) : undefined;

const spread: Filter = (state, node) => state.spread.rejection(node);
const podAffinity: Filter = (state, node) => state.affinity.rejection(node);

/** In the order of kube-scheduler's default profile, with whether fewer pods on the node could change the result. */
const filters: readonly (readonly [
  Filter,
  (found: string | readonly string[], state: CycleState, node: NodeInfo) => boolean,
])[] = [
  [unschedulable, () => false],
  [taints, () => false],
  [nodeAffinity, () => false],
  [ports, () => true],
  [
    resources,
    (_found, { info }, node) => info.requested.every(([name, amount]) => amount <= (node.allocatable[name] ?? 0)),
  ],
  [volumes, (found) => found === 'node(s) exceed max volume count'],
  [spread, (found) => found !== MISSING_LABEL],
  [podAffinity, (found) => found !== UNMET_AFFINITY],
];

export interface FilterResult {
  readonly reasons: readonly string[];
  /** Whether fewer pods on the node could change the result. */
  readonly canPass: boolean;
}

const FITS: FilterResult = { reasons: [], canPass: true };

/** Returns the reasons of the first filter that rejects the node; none if the pod can run there. */
export function filterNode(state: CycleState, node: NodeInfo): FilterResult {
  for (const [filter, canPass] of filters) {
    const found = filter(state, node);
    if (found !== undefined && found.length > 0) {
      return { reasons: [found].flat(), canPass: canPass(found, state, node) };
    }
  }
  return FITS;
}

/** Returns for example `0/3 nodes are available: 2 Insufficient cpu, 1 node(s) were unschedulable.` */
export function unschedulableMessage(total: number, reasons: ReadonlyMap<string, number>): string {
  if (total === 0) return 'no nodes available to schedule pods';
  const texts = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${total} nodes are available: ${texts.join(', ')}.`;
}
