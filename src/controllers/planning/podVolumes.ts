/**
 * Effect of a pod's disks on its nodes: the allowed topology and the use of attach limits, or why the pod cannot run.
 */
import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../api/kinds.ts';
import { Labels, normalizeLabelKey } from '../../api/labels.ts';
import { Requirement } from '../../constraints/requirement.ts';
import type { RequirementItem } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import { combineAlternatives, type PodVolumes } from '../../constraints/volumes.ts';
import type { ClaimProblem, PodObjection } from '../../ledger/objection.ts';
import type { ReadonlyStore } from '../../kube/store.ts';

export interface VolumeStores {
  readonly claims: ReadonlyStore<PersistentVolumeClaim>;
  readonly volumes: ReadonlyStore<PersistentVolume>;
  readonly classes: ReadonlyStore<StorageClass>;
}

export type ResolvedVolumes = { readonly volumes: PodVolumes } | { readonly objection: PodObjection };

interface OneVolume {
  readonly alternatives: readonly Requirements[];
  readonly driver: string | undefined;
}

const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
/** Driver names of in-tree volume plugins. */
const MOVED_DRIVERS: Readonly<Record<string, string>> = {
  'kubernetes.io/azure-disk': 'disk.csi.azure.com',
  'kubernetes.io/azure-file': 'file.csi.azure.com',
};

/** Resolves the disks of a pod once, and again only when one of its claims, volumes or classes has changed. */
export class KnownVolumes {
  private readonly stores: VolumeStores;
  private readonly known = new WeakMap<
    Pod,
    { readonly sources: readonly unknown[]; readonly resolved: ResolvedVolumes }
  >();

  constructor(stores: VolumeStores) {
    this.stores = stores;
  }

  /** `undefined` for pods without persistent disks. */
  of(pod: Pod): ResolvedVolumes | undefined {
    const names = claimNames(pod);
    if (names.length === 0) return undefined;
    const sources = names.flatMap((name) => sourcesOf(name, pod.metadata.namespace ?? 'default', this.stores));
    const known = this.known.get(pod);
    if (known !== undefined && sources.every((source, at) => source === known.sources[at])) return known.resolved;
    const resolved = resolvePodVolumes(pod, this.stores);
    if (resolved !== undefined) this.known.set(pod, { sources, resolved });
    return resolved;
  }
}

/** The objects that determine the claim's constraints. */
function sourcesOf(name: string, namespace: string, { claims, volumes, classes }: VolumeStores): readonly unknown[] {
  const claim = claims.get({ name, namespace });
  const { volumeName, storageClassName } = claim?.spec ?? {};
  return [
    claim,
    volumeName && volumes.get({ name: volumeName }),
    storageClassName && classes.get({ name: storageClassName }),
  ];
}

function claimNames({ spec, metadata }: Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName];
    return ephemeral ? [`${metadata.name}-${name}`] : [];
  });
}

/** `undefined` for pods without persistent disks. */
export function resolvePodVolumes(pod: Pod, stores: VolumeStores): ResolvedVolumes | undefined {
  const names = claimNames(pod);
  if (names.length === 0) return undefined;
  const namespace = pod.metadata.namespace ?? 'default';
  const found: { readonly claim: string; readonly volume: OneVolume }[] = [];
  for (const name of names) {
    const claim = stores.claims.get({ name, namespace });
    const volume = claim ? resolveClaim(claim, stores) : ({ problem: 'missing' } as const);
    if ('problem' in volume) return { objection: { kind: 'volume-claim', claim: name, ...volume } };
    found.push({ claim: `${namespace}/${name}`, volume });
  }
  return {
    volumes: {
      alternatives: combineAlternatives(found.map(({ volume }) => volume.alternatives)),
      attachments: found.flatMap(({ claim, volume: { driver } }) => (driver === undefined ? [] : [{ driver, claim }])),
    },
  };
}

/** The problem, if the claim cannot be used. */
function resolveClaim(claim: PersistentVolumeClaim, stores: VolumeStores): OneVolume | ClaimProblem {
  const { metadata, spec, status } = claim;
  if (metadata.deletionTimestamp) return { problem: 'deleting' };
  if (status?.phase === 'Lost') return { problem: 'lost' };
  if (spec?.volumeName) return resolveBound(claim, spec.volumeName, stores);
  const className = spec?.storageClassName;
  if (!className) return { problem: 'no-storage-class' };
  const storageClass = stores.classes.get({ name: className });
  if (!storageClass) return { problem: 'storage-class-missing', storageClass: className };
  if (storageClass.volumeBindingMode !== 'WaitForFirstConsumer') {
    return { problem: 'binds-immediately', storageClass: className };
  }
  const alternatives = (storageClass.allowedTopologies ?? []).map(({ matchLabelExpressions = [] }) =>
    Requirements.fromItems(matchLabelExpressions.map(({ key, values }) => ({ key, operator: 'In', values }))),
  );
  return { alternatives, driver: currentDriver(storageClass.provisioner) };
}

function resolveBound(claim: PersistentVolumeClaim, name: string, { volumes }: VolumeStores): OneVolume | ClaimProblem {
  const volume = volumes.get({ name });
  if (!volume) return { problem: 'volume-missing', volume: name };
  if (volume.metadata.deletionTimestamp) return { problem: 'volume-deleting', volume: name };
  if (claim.metadata.annotations?.[BIND_COMPLETED] === undefined) return { problem: 'unbound' };
  const { nodeAffinity, local, hostPath, csi, azureDisk } = volume.spec ?? {};
  const pinned = local !== undefined || hostPath !== undefined;
  const alternatives = (nodeAffinity?.required?.nodeSelectorTerms ?? []).map(({ matchExpressions = [] }) =>
    Requirements.of(
      ...matchExpressions
        // A local disk belongs to one node; when that node is gone, the pod must not wait for its name.
        .filter(({ key }) => !(pinned && normalizeLabelKey(key) === Labels.hostname))
        .map((expression) => Requirement.fromItem(expression as RequirementItem)),
    ),
  );
  return { alternatives, driver: csi?.driver ?? (azureDisk ? 'disk.csi.azure.com' : undefined) };
}

const currentDriver = (provisioner: string): string => MOVED_DRIVERS[provisioner] ?? provisioner;
