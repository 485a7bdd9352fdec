/** Constraints by a pod's volumes: whether it can be scheduled, and on which nodes. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/kinds.ts';
import { refOf } from '../../kube/runtime/watch.ts';
import { matchesNodeTerm } from '../../pods/nodeSelector.ts';
import type { ClusterInformers } from '../clusterInformers.ts';
import type { NodeInfo } from './nodeInfo.ts';

export type VolumeSources = Pick<ClusterInformers, 'claims' | 'volumes' | 'storageClasses' | 'csiNodes'>;

export interface VolumeNeeds {
  /** Why the pod cannot be scheduled to any node. */
  readonly obstacle?: string;
  readonly bound: readonly PersistentVolume[];
  /** Claims whose volume is provisioned for the selected node. */
  readonly unbound: readonly PersistentVolumeClaim[];
  /** CSI drivers by claim. */
  readonly drivers: ReadonlyMap<string, string>;
}

export const isBound = (claim: PersistentVolumeClaim): boolean =>
  claim.status?.phase === 'Bound' && !!claim.spec?.volumeName;

export function volumeNeeds(claimKeys: readonly string[], sources: VolumeSources): VolumeNeeds {
  const bound: PersistentVolume[] = [];
  const unbound: PersistentVolumeClaim[] = [];
  const drivers = new Map<string, string>();
  const wait = (obstacle: string): VolumeNeeds => ({ obstacle, bound, unbound, drivers });
  for (const key of claimKeys) {
    const ref = refOf(key);
    const claim = sources.claims.store.get(ref);
    if (!claim) return wait(`persistentvolumeclaim "${ref.name}" not found`);
    if (claim.metadata.deletionTimestamp) return wait(`persistentvolumeclaim "${ref.name}" is being deleted`);
    if (claim.status?.phase === 'Lost') return wait(`persistentvolumeclaim "${ref.name}" bound to non-existent volume`);
    const driver = driverOf(claim, sources);
    if (driver) drivers.set(key, driver);
    if (isBound(claim)) {
      const volume = sources.volumes.store.get({ name: claim.spec?.volumeName ?? '' });
      if (!volume) return wait(`persistentvolume "${claim.spec?.volumeName ?? ''}" not found`);
      bound.push(volume);
      continue;
    }
    const storageClass = sources.storageClasses.store.get({ name: claim.spec?.storageClassName ?? '' });
    if (storageClass?.volumeBindingMode !== 'WaitForFirstConsumer') {
      return wait('pod has unbound immediate PersistentVolumeClaims');
    }
    unbound.push(claim);
  }
  return { bound, unbound, drivers };
}

function driverOf(claim: PersistentVolumeClaim, { volumes, storageClasses }: VolumeSources): string | undefined {
  const volume = claim.spec?.volumeName ? volumes.store.get({ name: claim.spec.volumeName }) : undefined;
  if (volume) return volume.spec?.csi?.driver;
  return storageClasses.store.get({ name: claim.spec?.storageClassName ?? '' })?.provisioner;
}

export function volumeRejection(needs: VolumeNeeds, node: NodeInfo, sources: VolumeSources): string | undefined {
  for (const volume of needs.bound) {
    const required = volume.spec?.nodeAffinity?.required;
    if (required && !required.nodeSelectorTerms.some((term) => matchesNodeTerm(term, node.node))) {
      return "node(s) didn't match PersistentVolume's node affinity";
    }
  }
  for (const claim of needs.unbound) {
    const { allowedTopologies = [] } =
      sources.storageClasses.store.get({ name: claim.spec?.storageClassName ?? '' }) ?? {};
    const allowed =
      allowedTopologies.length === 0 ||
      allowedTopologies.some(({ matchLabelExpressions = [] }) =>
        matchLabelExpressions.every(({ key, values }) => values.includes(node.labels[key] ?? '')),
      );
    if (!allowed) return "node(s) didn't find available persistent volumes to bind";
  }
  return exceedsLimits(needs, node, sources) ? 'node(s) exceed max volume count' : undefined;
}

/** Whether the pod exceeds the limit of a driver's volumes on the node; a shared volume counts once. */
function exceedsLimits(needs: VolumeNeeds, node: NodeInfo, sources: VolumeSources): boolean {
  const csiNode = sources.csiNodes.store.get({ name: node.name });
  for (const { name, allocatable } of csiNode?.spec.drivers ?? []) {
    if (allocatable?.count === undefined) continue;
    const more = [...needs.drivers].filter(([key, driver]) => driver === name && !node.claims.has(key)).length;
    if (more === 0) continue;
    let used = 0;
    for (const key of node.claims.keys()) {
      const claim = sources.claims.store.get(refOf(key));
      if (claim && driverOf(claim, sources) === name) used++;
    }
    if (used + more > allocatable.count) return true;
  }
  return false;
}
