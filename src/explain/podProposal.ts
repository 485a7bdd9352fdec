/** A change that may give a pod a place, and what is known when one is looked for. */
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

/** What is known around the pod. */
export interface PodPicture {
  readonly pod: Pod;
  /** Other pods of the same owner. */
  readonly siblings: readonly Pod[];
  readonly source: PodSource;
  readonly pools: readonly NodePool[];
  readonly nodeClasses: readonly KubeObject[];
  readonly storageClasses: readonly StorageClass[];
  readonly volumeClaims: readonly PersistentVolumeClaim[];
  /** As they are on the server. */
  readonly daemonSets: readonly DaemonSet[];
  /** Pods that wait or are about to be made, of all owners. */
  readonly waitingPods: number;
  /** Pods of other owners that wait, and that the scheduler tries before this one. */
  readonly rivals: readonly Pod[];
  /** Zones that the pod can only run in: of its disks, and those that it selects. */
  readonly zones: readonly string[];
  /** Nodes by pool. */
  readonly poolNodes: ReadonlyMap<string, number>;
  /** Whether nodes of the pool can be had in the zone. */
  isSoldIn(pool: string, zone: string): boolean;
  /** The instance type that a node of the pool gets when no pod asks for it. */
  cheapestType(pool: string): string | undefined;
}

/** `source` is what makes the pod after the change. Without patches it only tells what to do; nothing is rehearsed. */
export interface PodProposal extends Proposal {
  readonly source: PodSource;
}

/** As the scheduler leaves a pod that fits nowhere. */
export const UNSCHEDULED = {
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
};

/** A change of the pod's spec: of its owner's template, or of a pod that has to be made again. */
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
