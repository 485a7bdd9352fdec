import type { PersistentVolumeClaim, Pod, VolumeAttachment } from '../../api/kinds.ts';
import type { ReadonlyStore } from '../../kube/store.ts';

/** Name of the index of VolumeAttachments by node. */
export const BY_NODE = 'spec.nodeName';

export const byNodeIndex = ({ spec }: VolumeAttachment): readonly string[] => [spec.nodeName];

/**
 * The attachments that must be gone before the instance is deleted. Ignores those of pods that stay on the node until
 * its end (and never release them), and those without a PersistentVolume.
 */
export function blockingAttachments(
  attachments: readonly VolumeAttachment[],
  stayingPods: readonly Pod[],
  claims: ReadonlyStore<PersistentVolumeClaim>,
): readonly string[] {
  const named = attachments.filter(({ spec }) => spec.source.persistentVolumeName);
  if (named.length === 0) return [];
  const kept = new Set(stayingPods.flatMap((pod) => volumesOf(pod, claims)));
  return named
    .filter(({ spec }) => !kept.has(spec.source.persistentVolumeName ?? ''))
    .map(({ metadata }) => metadata.name)
    .sort();
}

function volumesOf(pod: Pod, claims: ReadonlyStore<PersistentVolumeClaim>): string[] {
  const { namespace } = pod.metadata;
  return claimNames(pod).flatMap((name) => claims.get({ name, namespace })?.spec?.volumeName ?? []);
}

/** A generic ephemeral volume has its own claim, named after the pod and the volume. */
function claimNames(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName];
    return ephemeral ? [`${pod.metadata.name}-${name}`] : [];
  });
}
