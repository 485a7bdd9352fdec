/**
 * Why a VM no longer matches its node class. Parts of the class's status that are not for its current spec are ignored.
 */
import { AksNodeClassConditions } from '../api/conditionTypes.ts';
import type { Node } from '../api/kinds.ts';
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Annotations, Labels } from '../api/labels.ts';
import type { DriftSubject } from '../cloud/cloudProvider.ts';
import type { AzureSettings } from './azureSettings.ts';
import { nodeImageVersionOf } from './aksMachineBody.ts';
import { isCurrent } from './classSettings.ts';

/** `driftAction` asks AKS for the action required for an AKS machine; undefined when AKS gives none. */
export async function driftOf(
  { claim, nodeClass, node }: DriftSubject<AksNodeClass>,
  settings: Pick<AzureSettings, 'kubeletIdentityClientId'>,
  driftAction: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const live = node?.metadata.deletionTimestamp === undefined ? node : undefined;
  const isAksMachine = claim.metadata.annotations?.[Annotations.aksMachineResourceId] !== undefined;
  if (hasOtherHash(claim, nodeClass)) return 'NodeClassDrift';
  if (live !== undefined && runsOtherVersion(live, nodeClass)) return 'K8sVersionDrift';
  if (isAksMachine) {
    if (hasOtherImage(claim, nodeClass, nodeImageVersionOf)) return 'ImageDrift';
    return SYNCED.has((await driftAction()) ?? '') ? undefined : 'ClusterConfigDrift';
  }
  const identity = live?.metadata.labels?.[Labels.aksKubeletIdentityClientId];
  if (identity !== undefined && identity !== settings.kubeletIdentityClientId) return 'KubeletIdentityDrift';
  return hasOtherImage(claim, nodeClass, (id) => id) ? 'ImageDrift' : undefined;
}

const SYNCED: ReadonlySet<string> = new Set(['', 'Synced']);

/** Missing hashes, or hashes of different versions, cannot be compared. */
function hasOtherHash(claim: NodeClaim, nodeClass: AksNodeClass): boolean {
  const mine = claim.metadata.annotations ?? {};
  const theirs = nodeClass.metadata.annotations ?? {};
  const { aksNodeClassHash: hash, aksNodeClassHashVersion: version } = Annotations;
  if (mine[version] === undefined || mine[version] !== theirs[version]) return false;
  return mine[hash] !== undefined && theirs[hash] !== undefined && mine[hash] !== theirs[hash];
}

function runsOtherVersion(node: Node, nodeClass: AksNodeClass): boolean {
  const wanted = nodeClass.status?.kubernetesVersion ?? '';
  const running = node.status?.nodeInfo?.kubeletVersion ?? '';
  if (wanted === '' || running === '') return false;
  return (
    isCurrent(nodeClass, AksNodeClassConditions.kubernetesVersionReady) && releaseOf(running) !== releaseOf(wanted)
  );
}

/** A suffix after the numbers names a build; a new instance would have the same difference to the API server. */
function releaseOf(version: string): string {
  return version.replace(/^v/, '').replace(/[-+].*$/, '');
}

function hasOtherImage(claim: NodeClaim, nodeClass: AksNodeClass, nameOf: (id: string) => string): boolean {
  const image = claim.status?.imageID ?? '';
  const images = nodeClass.status?.images ?? [];
  if (image === '' || images.length === 0) return false;
  return isCurrent(nodeClass, AksNodeClassConditions.imagesReady) && !images.some(({ id }) => nameOf(id) === image);
}
