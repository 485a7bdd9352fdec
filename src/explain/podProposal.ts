/** A change that may give a pod a place, and the facts for finding one. */
import type { DaemonSet, PersistentVolumeClaim, Pod, StorageClass } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import type { KubeObject } from '../api/object.ts';
import { mergePatch } from '../kube/mergePatch.ts';
import { remadeText } from '../ledger/changeText.ts';
import type { Patch } from '../ledger/explanation.ts';
import type { PodChange } from '../ledger/podChange.ts';
import { podChangeText } from '../ledger/podChangeText.ts';
import { canChange, templatePatches, type PodSource } from './podFixes.ts';
import { patchOf, podTarget, type Proposal } from './proposal.ts';

export type Spec = PodSource['spec'];

/** Facts about the pod's surroundings. */
export interface PodPicture {
  readonly pod: Pod;
  /** Other pods of the same owner. */
  readonly siblings: readonly Pod[];
  readonly source: PodSource;
  readonly pools: readonly NodePool[];
  readonly nodeClasses: readonly KubeObject[];
  readonly storageClasses: readonly StorageClass[];
  readonly volumeClaims: readonly PersistentVolumeClaim[];
  /** As on the server. */
  readonly daemonSets: readonly DaemonSet[];
  /** Number of pods, of all owners, that wait or are about to be created. */
  readonly waitingPods: number;
  /** Waiting pods of other owners that the scheduler tries before this one. */
  readonly rivals: readonly Pod[];
  /** Zones to which the pod is restricted by its disks and selectors. */
  readonly zones: readonly string[];
  /** Number of nodes by pool. */
  readonly poolNodes: ReadonlyMap<string, number>;
  /** Whether the pool offers nodes in the zone. */
  isSoldIn(pool: string, zone: string): boolean;
  /** Instance type of a new node of the pool without pods; as if the pool had no requirement on `without`. */
  cheapestType(pool: string, without?: string): string | undefined;
}

/** `source`: what creates the pod after the change. A proposal without patches is only advice and is not rehearsed. */
export interface PodProposal extends Proposal {
  readonly source: PodSource;
}

/** Status of a pod that the scheduler could not place. */
export const UNSCHEDULED = {
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
};

/** Changes the pod's spec, in its owner's template or in a pod to be recreated. */
export function respecified(picture: PodPicture, change: PodChange, edit: (spec: Spec) => Spec): PodProposal {
  const { pod, source, siblings } = picture;
  const sentence = podChangeText(change);
  if (!canChange(source)) return { sentence: remadeText(source.target, sentence), patches: [], effects: [], source };
  const edited = edit(source.edited ?? source.spec);
  const patches = templatePatches(source, edited);
  return {
    sentence,
    patches,
    effects: [pod, ...waiting(siblings)].map((each) => effectOf(each, edit, { status: UNSCHEDULED })),
    source: { ...source, edited },
  };
}

export const waiting = (pods: readonly Pod[]): readonly Pod[] => pods.filter(({ spec }) => !spec?.nodeName);

export function effectOf(pod: Pod, edit: (spec: Spec) => Spec, rest: Patch['patch'] = {}): Patch {
  const before = pod.spec ?? { containers: [] };
  return patchOf(podTarget(pod), { ...mergePatch({ spec: before }, { spec: edit(before) }), ...rest });
}

export function proposed({ source }: PodPicture, change: PodChange, patches: readonly Patch[]): PodProposal {
  return { sentence: podChangeText(change), patches, effects: [], source };
}

export const manual = (picture: PodPicture, change: PodChange): PodProposal => proposed(picture, change, []);
