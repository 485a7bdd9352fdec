import { Kinds, type Pod, type VolumeAttachment } from '../../api/kinds.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';

/**
 * The attachments that must be gone before the machine may go. Those of pods that stay on the node until its end (and
 * so never let go of them) do not count, nor those that no PersistentVolume stands behind.
 */
export async function blockingAttachments(
  kube: Kube,
  attachments: readonly VolumeAttachment[],
  stayingPods: readonly Pod[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const named = attachments.filter(({ spec }) => spec.source.persistentVolumeName);
  if (named.length === 0) return [];
  const kept = new Set(await volumesOf(kube, stayingPods, signal));
  return named
    .filter(({ spec }) => !kept.has(spec.source.persistentVolumeName ?? ''))
    .map(({ metadata }) => metadata.name)
    .sort();
}

async function volumesOf(kube: Kube, pods: readonly Pod[], signal: AbortSignal): Promise<string[]> {
  const names: string[] = [];
  for (const pod of pods) {
    for (const claim of claimNames(pod)) {
      try {
        const ref = { name: claim, namespace: pod.metadata.namespace };
        const { spec } = await kube.get(Kinds.PersistentVolumeClaim, ref, { signal });
        if (spec?.volumeName) names.push(spec.volumeName);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
  }
  return names;
}

/** A generic ephemeral volume has a claim of its own, named after the pod and the volume. */
function claimNames(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName];
    return ephemeral ? [`${pod.metadata.name}-${name}`] : [];
  });
}
