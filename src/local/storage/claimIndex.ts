/** Which pods use a claim. In: a pod. Out: `namespace/name` of its claims, to index the pod informer by. */
import type { Pod } from '../../api/kinds.ts';
import type { Informer } from '../../kube/informer.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/kinds.ts';
import { refOf } from '../../kube/runtime/watch.ts';

/** Name of the pod informer's index by claim. */
export const BY_CLAIM = 'persistent-volume-claim';

export function byClaimIndex(pod: Pod): readonly string[] {
  const { namespace = '', name } = pod.metadata;
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    if (volume.persistentVolumeClaim) return [`${namespace}/${volume.persistentVolumeClaim.claimName}`];
    return volume.ephemeral ? [`${namespace}/${name}-${volume.name}`] : [];
  });
}

/** The volumes behind a pod's claims, as far as they are bound. */
export function volumesOf(
  pod: Pod,
  claims: Informer<PersistentVolumeClaim>,
  volumes: Informer<PersistentVolume>,
): readonly PersistentVolume[] {
  return byClaimIndex(pod).flatMap((key) => {
    const name = claims.store.get(refOf(key))?.spec?.volumeName;
    return (name && volumes.store.get({ name })) || [];
  });
}
