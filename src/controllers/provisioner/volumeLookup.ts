import type { NodeSelectorTerm, TopologySelectorTerm } from 'kubernetes-types/core/v1.js';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { Requirement, type RequirementOperator } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import { combineAlternatives, type PodVolumes } from '../../constraints/volumes.ts';
import type { ClusterInformers } from '../cluster-state/clusterInformers.ts';

export type VolumeVerdict =
  | { readonly kind: 'resolved'; readonly volumes: PodVolumes }
  /** The pod cannot be provided for while this is so. */
  | { readonly kind: 'objection'; readonly message: string };

interface ClaimVerdict {
  readonly alternatives: readonly Requirements[];
  readonly driver: string | undefined;
}

const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
/** In-tree drivers go by the name of what has replaced them. */
const CSI_NAMES: Readonly<Record<string, string>> = {
  'kubernetes.io/azure-disk': 'disk.csi.azure.com',
  'kubernetes.io/azure-file': 'file.csi.azure.com',
};

class Objection extends Error {}

/** What the volumes of pods ask of nodes, looked up in the watches of claims, volumes and storage classes. */
export class VolumeLookup {
  readonly #informers: ClusterInformers;

  constructor(informers: ClusterInformers) {
    this.#informers = informers;
  }

  /** Undefined for a pod without volumes that matter. */
  of(pod: Pod): VolumeVerdict | undefined {
    const names = claimNames(pod);
    if (names.length === 0) return undefined;
    const { namespace = 'default' } = pod.metadata;
    try {
      const verdicts = names.map((name) => ({ name, ...this.#claim(namespace, name) }));
      const attachments = verdicts.flatMap(({ name, driver }) =>
        driver ? [{ driver, claim: `${namespace}/${name}` }] : [],
      );
      const alternatives = combineAlternatives(verdicts.map((verdict) => verdict.alternatives));
      return { kind: 'resolved', volumes: { alternatives, attachments } };
    } catch (error) {
      if (error instanceof Objection) return { kind: 'objection', message: error.message };
      throw error;
    }
  }

  /** Disks that may be attached to a node, by driver; undefined while nothing is known. */
  limitsOf(nodeName: string): ReadonlyMap<string, number> | undefined {
    const drivers = this.#informers.csiNodes.store.get({ name: nodeName })?.spec.drivers ?? [];
    const limits = drivers.flatMap(({ name, allocatable }) =>
      allocatable?.count === undefined ? [] : [[name, allocatable.count] as const],
    );
    return limits.length === 0 ? undefined : new Map(limits);
  }

  #claim(namespace: string, name: string): ClaimVerdict {
    const claim = this.#informers.volumeClaims.store.get({ namespace, name });
    if (!claim) throw new Objection(`PersistentVolumeClaim ${name} does not exist`);
    if (claim.metadata.deletionTimestamp) throw new Objection(`PersistentVolumeClaim ${name} is being deleted`);
    if (claim.status?.phase === 'Lost') throw new Objection(`PersistentVolumeClaim ${name} has lost its volume`);
    return claim.spec?.volumeName ? this.#bound(claim, claim.spec.volumeName) : this.#unbound(claim);
  }

  #bound({ metadata }: PersistentVolumeClaim, volumeName: string): ClaimVerdict {
    const volume = this.#informers.volumes.store.get({ name: volumeName });
    if (!volume) throw new Objection(`PersistentVolume ${volumeName} does not exist`);
    if (volume.metadata.deletionTimestamp) throw new Objection(`PersistentVolume ${volumeName} is being deleted`);
    if (metadata.annotations?.[BIND_COMPLETED] === undefined) {
      throw new Objection(`PersistentVolumeClaim ${metadata.name} is not bound completely`);
    }
    const { spec } = volume;
    const driver = spec?.csi?.driver ?? (spec?.azureDisk ? CSI_NAMES['kubernetes.io/azure-disk'] : undefined);
    return { alternatives: volumeAlternatives(volume), driver };
  }

  #unbound({ metadata, spec }: PersistentVolumeClaim): ClaimVerdict {
    const className = spec?.storageClassName;
    if (!className) throw new Objection(`unbound PersistentVolumeClaim ${metadata.name} has no storage class`);
    const storageClass = this.#informers.storageClasses.store.get({ name: className });
    if (!storageClass) throw new Objection(`StorageClass ${className} does not exist`);
    if ((storageClass.volumeBindingMode ?? 'Immediate') === 'Immediate') {
      throw new Objection(
        `PersistentVolumeClaim ${metadata.name} is bound at once, before a node is chosen, and is not yet`,
      );
    }
    const { provisioner, allowedTopologies = [] } = storageClass;
    return { alternatives: allowedTopologies.map(ofTopology), driver: CSI_NAMES[provisioner] ?? provisioner };
  }
}

function claimNames(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName];
    return ephemeral ? [`${pod.metadata.name}-${name}`] : [];
  });
}

/** Where the volume can be reached from; a volume on one machine is not taken to tie its pod to that machine. */
function volumeAlternatives({ spec }: PersistentVolume): readonly Requirements[] {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const onMachine = spec?.local !== undefined || spec?.hostPath !== undefined;
  return terms.map((term) => ofTerm(term, onMachine));
}

function ofTerm({ matchExpressions = [] }: NodeSelectorTerm, withoutHostname: boolean): Requirements {
  const kept = matchExpressions.filter(({ key }) => !(withoutHostname && key === Labels.hostname));
  return Requirements.empty.add(
    ...kept.map(({ key, operator, values }) => Requirement.of(key, operator as RequirementOperator, values)),
  );
}

function ofTopology({ matchLabelExpressions = [] }: TopologySelectorTerm): Requirements {
  return Requirements.empty.add(...matchLabelExpressions.map(({ key, values }) => Requirement.of(key, 'In', values)));
}
