/** Whether a pod can run on a node, and if not why, in kube-scheduler's words. */
import { hostPortsClash } from '../../pods/hostPorts.ts';
import { matchesNodeAffinity } from '../../pods/nodeSelector.ts';
import { isTolerated } from '../../pods/taints.ts';
import type { NamespaceLabels } from './affinity.ts';
import type { ClusterView } from './clusterView.ts';
import type { NodeInfo } from './nodeInfo.ts';
import { PodAffinity, UNMET_AFFINITY } from './podAffinity.ts';
import type { PodInfo } from './podInfo.ts';
import { MISSING_LABEL, TopologySpread } from './topologySpread.ts';
import { volumeComplaint, volumeNeeds, type VolumeNeeds, type VolumeSources } from './volumes.ts';

/** A pod that looks for a node, with everything about the cluster that matters to it. */
export interface Seeker {
  readonly info: PodInfo;
  readonly affinity: PodAffinity;
  readonly spread: TopologySpread;
  readonly volumes: VolumeNeeds | undefined;
  readonly sources: VolumeSources | undefined;
}

export function seeker(
  info: PodInfo,
  view: ClusterView,
  namespaceLabels: NamespaceLabels,
  sources?: VolumeSources,
): Seeker {
  return {
    info,
    affinity: new PodAffinity(info.pod, view, namespaceLabels),
    spread: new TopologySpread(info.pod, view),
    volumes: sources && info.claims.length > 0 ? volumeNeeds(info.claims, sources) : undefined,
    sources,
  };
}

/** Says why the pod cannot run on the node, or nothing when it can. */
type Filter = (seeker: Seeker, node: NodeInfo) => string | readonly string[] | undefined;

const CORDONED = 'node(s) were unschedulable';
const TAINTED = 'node(s) had untolerated taint(s)';
/** What a node says that keeps the pod out whatever runs there. */
export const KEPT_OUT: ReadonlySet<string> = new Set([CORDONED, TAINTED]);
const UNSCHEDULABLE_TAINT = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const;

export const unschedulable = ({ info }: Pick<Seeker, 'info'>, { node }: NodeInfo): string | undefined =>
  node.spec?.unschedulable && !isTolerated(UNSCHEDULABLE_TAINT, info.pod.spec?.tolerations) ? CORDONED : undefined;

export const taints = ({ info: { pod } }: Pick<Seeker, 'info'>, node: NodeInfo): string | undefined =>
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
  needs && sources ? volumeComplaint(needs, node, sources) : undefined;

const spread: Filter = (seeker, node) => seeker.spread.complaint(node);
const podAffinity: Filter = (seeker, node) => seeker.affinity.complaint(node);

/** In the order of kube-scheduler's default profile, with whether fewer pods on the node could end the complaint. */
const filters: readonly (readonly [
  Filter,
  (found: string | readonly string[], seeker: Seeker, node: NodeInfo) => boolean,
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

export interface Complaints {
  readonly reasons: readonly string[];
  /** True when fewer pods on the node could change it. */
  readonly canPass: boolean;
}

const FITS: Complaints = { reasons: [], canPass: true };

/** The complaints of the first filter that objects; no reasons when the pod can run there. */
export function complaints(seeker: Seeker, node: NodeInfo): Complaints {
  for (const [filter, canPass] of filters) {
    const found = filter(seeker, node);
    if (found !== undefined && found.length > 0) {
      return { reasons: [found].flat(), canPass: canPass(found, seeker, node) };
    }
  }
  return FITS;
}

/** `0/3 nodes are available: 2 Insufficient cpu, 1 node(s) were unschedulable.` */
export function unschedulableMessage(total: number, reasons: ReadonlyMap<string, number>): string {
  if (total === 0) return 'no nodes available to schedule pods';
  const texts = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${total} nodes are available: ${texts.join(', ')}.`;
}
