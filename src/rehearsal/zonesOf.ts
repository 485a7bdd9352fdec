import { Kinds, type PersistentVolumeClaim, type Pod } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';
import { findObject, type ClusterObjects } from './clusterObjects.ts';

/** Zones to which the pod is restricted: those of its disks, which cannot change, and the one that it selects. */
export function zonesOf(
  { spec }: Pod,
  claims: readonly PersistentVolumeClaim[],
  objects: ClusterObjects,
): readonly string[] {
  const selected = spec?.nodeSelector?.[Labels.zone];
  const ofDisks = claims.flatMap((claim) => {
    const { volumeName } = claim.spec ?? {};
    const volume = volumeName ? findObject(objects, Kinds.PersistentVolume, { name: volumeName }) : undefined;
    const terms = volume?.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
    return terms.flatMap(({ matchExpressions = [] }) =>
      matchExpressions.flatMap(({ key, operator, values = [] }) =>
        operator === 'In' && ZONE_KEYS.has(key) ? values.filter((zone) => zone !== '') : [],
      ),
    );
  });
  return [...new Set([...ofDisks, ...(selected === undefined ? [] : [selected])])];
}

const ZONE_KEYS: ReadonlySet<string> = new Set([Labels.zone, Labels.diskZone]);
