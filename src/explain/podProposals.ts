/**
 * Changes for pods that the solver has no suggestion for: what keeps them out of every plan, pools that cannot be used, and
 * daemons that leave no room. Whether one helps is found out by rehearsing it.
 */
import { findCondition } from '../api/conditions.ts';
import { NodePoolConditions, READY } from '../api/conditionTypes.ts';
import { Kinds, type DaemonSet, type PersistentVolumeClaim, type Pod, type StorageClass } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Labels } from '../api/labels.ts';
import { apiVersionOf, type KubeObject } from '../api/object.ts';
import { mergePatch } from '../kube/mergePatch.ts';
import type { ObjectName, Patch } from '../ledger/explanation.ts';
import type { PodState } from '../ledger/podStateText.ts';
import type { PodObjection } from '../ledger/objection.ts';
import type { PodChange } from '../ledger/podChange.ts';
import { remadeText } from '../ledger/changeText.ts';
import { podChangeText } from '../ledger/podChangeText.ts';
import type { UnplacedReason } from '../solver/reasons.ts';
import { canChange, hasTemplate, templatePatches, type PodSource } from './podFixes.ts';
import { patchOf, podTarget, poolTarget, type Proposal } from './proposal.ts';
import {
  DEFAULT_SCHEDULER,
  invalidKeys,
  optedIn,
  withDefaultScheduler,
  withEmptyDir,
  withEphemeralClass,
  withoutGates,
  withoutInvalid,
  withoutResourceClaims,
  together,
} from './specEdits.ts';
import { withLessRequests } from './workloadProposals.ts';

type Spec = PodSource['spec'];

/** What keeps the pod from a place. */
export type Obstacle =
  | { readonly kind: 'gated'; readonly gates: readonly string[] }
  | { readonly kind: 'other-scheduler'; readonly scheduler: string }
  | { readonly kind: 'objection'; readonly objection: PodObjection }
  | { readonly kind: 'unplaced'; readonly reason: UnplacedReason };

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
  /** Pods that wait, of all owners. */
  readonly waitingPods: number;
  /** Nodes by pool. */
  readonly poolNodes: ReadonlyMap<string, number>;
  /** The instance type that a node of the pool gets when no pod asks for it. */
  cheapestType(pool: string): string | undefined;
}

/** With what the pod comes from after it. Without patches: something else has to be done, which is not rehearsed. */
export interface PodProposal extends Proposal {
  readonly source: PodSource;
}

export function podProposals(obstacle: Obstacle, picture: PodPicture): readonly PodProposal[] {
  switch (obstacle.kind) {
    case 'gated':
      return [ungated(picture, obstacle.gates)];
    case 'other-scheduler': {
      const change: PodChange = { kind: 'scheduler', from: obstacle.scheduler, to: DEFAULT_SCHEDULER };
      return [respecified(picture, change, withDefaultScheduler)];
    }
    case 'objection':
      return objectionProposals(obstacle.objection, picture);
    case 'unplaced':
      return unplacedProposals(obstacle.reason, picture);
  }
}

function objectionProposals(objection: PodObjection, picture: PodPicture): readonly PodProposal[] {
  switch (objection.kind) {
    case 'opted-out':
      return [respecified(picture, { kind: 'opt-in', label: Labels.nodePool }, optedIn)];
    case 'invalid': {
      const change: PodChange = { kind: 'drop-invalid', keys: invalidKeys(picture.pod.spec ?? picture.source.spec) };
      return [respecified(picture, change, withoutInvalid)];
    }
    case 'volume-claim':
      return claimProposals(objection, picture);
  }
}

function claimProposals(
  objection: PodObjection & { readonly kind: 'volume-claim' },
  picture: PodPicture,
): readonly PodProposal[] {
  const { claim } = objection;
  const { pod, storageClasses, volumeClaims } = picture;
  const { namespace = 'default', name } = pod.metadata;
  const stored = volumeClaims.find(({ metadata }) => metadata.name === claim && metadata.namespace === namespace);
  const usable = classFor(storageClasses);
  const proposals: PodProposal[] = [];
  if (objection.problem === 'no-storage-class' && stored?.spec?.storageClassName === undefined && usable) {
    const target = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: claim };
    const change: PodChange = { kind: 'claim-class', claim, storageClass: usable };
    proposals.push(proposed(picture, change, [patchOf(target, { spec: { storageClassName: usable } })]));
  }
  const ephemeral = (pod.spec?.volumes ?? []).find((each) => each.ephemeral && `${name}-${each.name}` === claim);
  if (ephemeral !== undefined && usable !== undefined) {
    const change: PodChange = { kind: 'ephemeral-class', volume: ephemeral.name, storageClass: usable };
    proposals.push(respecified(picture, change, withEphemeralClass(ephemeral.name, usable)));
  }
  if (objection.problem === 'missing') proposals.push(...created(picture, 'PersistentVolumeClaim', claim));
  if (objection.problem === 'storage-class-missing') {
    proposals.push(...created(picture, 'StorageClass', objection.storageClass));
  }
  if (objection.problem === 'volume-missing') proposals.push(...created(picture, 'PersistentVolume', objection.volume));
  if (ephemeral === undefined) proposals.push(respecified(picture, { kind: 'empty-dir', claim }, withEmptyDir(claim)));
  return proposals;
}

/** The default class, else any, of those that wait for a pod. */
function classFor(classes: readonly StorageClass[]): string | undefined {
  const waiting = classes.filter(({ volumeBindingMode }) => volumeBindingMode === 'WaitForFirstConsumer');
  const isDefault = ({ metadata }: StorageClass): boolean =>
    metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true';
  return (waiting.find(isDefault) ?? waiting[0])?.metadata.name;
}

function unplacedProposals(reason: UnplacedReason, picture: PodPicture): readonly PodProposal[] {
  if (reason.kind === 'unsupported') {
    return [respecified(picture, { kind: 'drop-resource-claims' }, withoutResourceClaims)];
  }
  const claims = (picture.pod.spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim ? [persistentVolumeClaim.claimName] : [],
  );
  const refusals = reason.kind === 'refused' ? reason.pools : [];
  const stages = new Set(refusals.map(({ stage }) => stage));
  return [
    ...picture.pools.flatMap((pool) => unusablePool(pool, picture)),
    ...withoutApartness(picture),
    ...(stages.has('resources') ? picture.daemonSets.flatMap((each) => smallerDaemons(each, picture)) : []),
    ...claims.map((claim) => respecified(picture, { kind: 'empty-dir', claim }, withEmptyDir(claim))),
    ...(reason.kind === 'no-pools' && picture.pools.length === 0 ? [manual(picture, { kind: 'create-pool' })] : []),
  ];
}

/** A pool whose class keeps nodes from being bought from it, and what would change that. */
export interface BarredPool {
  readonly pool: string;
  readonly state: PodState;
  readonly proposals: readonly PodProposal[];
}

export function barredPools(picture: PodPicture): readonly BarredPool[] {
  return picture.pools.flatMap((pool): BarredPool[] => {
    const { name } = pool.metadata;
    const { template, replicas } = pool.spec;
    const proposals = replicas === undefined ? unusablePool(pool, picture) : [];
    if (proposals.length === 0) return [];
    const { kind, name: ofClass } = template.spec.nodeClassRef;
    const { message = '' } = findCondition(pool, NodePoolConditions.nodeClassReady) ?? {};
    const state: PodState = { kind: 'node-class', nodePool: name, nodeClass: `${kind}/${ofClass}`, message };
    return [{ pool: name, state, proposals }];
  });
}

/** A pool that pods are not planned for as it is: another class for it, or another node of a static one. */
function unusablePool(pool: NodePool, picture: PodPicture): readonly PodProposal[] {
  const { pod, source, nodeClasses } = picture;
  const { metadata, spec, status } = pool;
  const { name } = metadata;
  if (metadata.deletionTimestamp !== undefined) return [];
  const conditions = status?.conditions ?? [];
  const bad = conditions.filter(({ type, status: state }) => type !== READY && state === 'False');
  const proposals: PodProposal[] = [];
  const { group, kind, name: from } = spec.template.spec.nodeClassRef;
  if (bad.length === 1 && bad[0]?.type === NodePoolConditions.nodeClassReady) {
    const others = nodeClasses.filter(
      (each) => each.kind === kind && each.apiVersion?.startsWith(`${group}/`) === true && isReady(each),
    );
    const repaired = conditions.map((each) =>
      each.type === READY || each.type === NodePoolConditions.nodeClassReady ? { ...each, status: 'True' } : each,
    );
    for (const { metadata: to } of others.slice(0, 2)) {
      const patch = { spec: { template: { spec: { nodeClassRef: { name: to.name } } } } };
      proposals.push({
        sentence: podChangeText({ kind: 'node-class', pool: name, from, to: to.name }),
        patches: [patchOf(poolTarget(name), patch)],
        effects: [patchOf(poolTarget(name), { status: { conditions: repaired } })],
        source,
      });
    }
  }
  if (spec.replicas !== undefined && bad.length === 0) proposals.push(...moreReplicas(pool, spec.replicas, picture));
  return pod.metadata.deletionTimestamp === undefined ? proposals : [];
}

/** Nodes that a pool is made to grow by at once. */
const MOST_REPLICAS = 20;

/** As many more nodes of a static pool as the pods of the owner that wait may need. */
function moreReplicas(pool: NodePool, from: number, picture: PodPicture): readonly PodProposal[] {
  const { source, poolNodes, siblings } = picture;
  const { metadata, spec } = pool;
  const { name } = metadata;
  // Others may take the first.
  const ownPods = waiting(siblings).length + 1;
  const most = Math.min(MOST_REPLICAS, Math.max(picture.waitingPods, ownPods));
  const type = picture.cheapestType(name);
  const requirements = [
    ...spec.template.spec.requirements.filter(({ key }) => key !== Labels.instanceType),
    ...(type === undefined ? [] : [{ key: Labels.instanceType, operator: 'In', values: [type] }]),
  ];
  const template = { spec: { requirements } };
  return [...new Set([1, ownPods, most])].map((more) => {
    const nodes = Math.max(from, poolNodes.get(name) ?? 0) + more;
    return {
      sentence: podChangeText({ kind: 'replicas', pool: name, from, to: from + more }),
      patches: [patchOf(poolTarget(name), { spec: { replicas: from + more } })],
      // As if the pool grew for pods, by these nodes.
      effects: [patchOf(poolTarget(name), { spec: { replicas: null, limits: { nodes: String(nodes) }, template } })],
      source,
    };
  });
}

function isReady(object: KubeObject): boolean {
  const { conditions = [] } =
    (object as { status?: { conditions?: readonly { type: string; status: string }[] } }).status ?? {};
  return (
    object.metadata.deletionTimestamp === undefined &&
    conditions.some(({ type, status }) => type === READY && status === 'True')
  );
}

const LESS_OF_DAEMONS = [50, 10];

function smallerDaemons(daemonSet: DaemonSet, { source }: PodPicture): readonly PodProposal[] {
  const { namespace = 'default', name } = daemonSet.metadata;
  const spec = daemonSet.spec?.template.spec;
  if (spec === undefined) return [];
  const target: ObjectName = {
    apiVersion: apiVersionOf(Kinds.DaemonSet),
    kind: Kinds.DaemonSet.kind,
    namespace,
    name,
  };
  return LESS_OF_DAEMONS.flatMap((percent): PodProposal[] => {
    const containers = withLessRequests(spec.containers, percent);
    const patch = mergePatch({ spec }, { spec: { ...spec, containers } });
    if (patch === undefined) return [];
    return [
      {
        sentence: podChangeText({ kind: 'daemon-requests', daemonSet: `${namespace}/${name}`, percent }),
        patches: [patchOf(target, { spec: { template: patch } })],
        effects: [],
        source,
      },
    ];
  });
}

/** As the scheduler leaves a pod that fits nowhere. */
const UNSCHEDULED = {
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
};

function ungated({ pod, source }: PodPicture, gates: readonly string[]): PodProposal {
  const patch = { spec: { schedulingGates: [] } };
  return {
    sentence: podChangeText({ kind: 'ungate', gates }),
    patches: [patchOf(podTarget(pod), patch)],
    effects: [patchOf(podTarget(pod), { status: UNSCHEDULED })],
    // A pod that its owner makes anew must not be held again.
    source: { ...source, edited: withoutGates(source.edited ?? source.spec) },
  };
}

/** A change of the pod's spec: of its owner's template, or of a pod that has to be made again. */
function respecified(picture: PodPicture, change: PodChange, edit: (spec: Spec) => Spec): PodProposal {
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

const waiting = (pods: readonly Pod[]): readonly Pod[] => pods.filter(({ spec }) => !spec?.nodeName);

function effectOf(pod: Pod, edit: (spec: Spec) => Spec, rest: Patch['patch'] = {}): Patch {
  const before = pod.spec ?? { containers: [] };
  return patchOf(podTarget(pod), { ...mergePatch({ spec: before }, { spec: edit(before) }), ...rest });
}

/** Pods that keep away from each other: all of them have to be made anew, and at once. */
function withoutApartness(picture: PodPicture): readonly PodProposal[] {
  const { source, siblings } = picture;
  const terms = source.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (!hasTemplate(source) || terms.length === 0) return [];
  const { scale } = source;
  const whole: PodSource = {
    ...source,
    ...(scale ? { scale: { ...scale, down: 0 } } : source.target.kind === 'Deployment' && { extra: ALL_AT_ONCE }),
  };
  const keys = [...new Set(terms.map(({ topologyKey }) => topologyKey))];
  const change: PodChange = { kind: 'drop-apartness', topologyKeys: keys };
  const { effects, ...rest } = respecified({ ...picture, source: whole }, change, together);
  return [{ ...rest, effects: [...effects, ...siblings.map((each) => effectOf(each, together))] }];
}

/** A rollout that leaves old pods in place would wait for them for ever. */
const ALL_AT_ONCE = { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } } } };

function proposed({ source }: PodPicture, change: PodChange, patches: readonly Patch[]): PodProposal {
  return { sentence: podChangeText(change), patches, effects: [], source };
}

const manual = (picture: PodPicture, change: PodChange): PodProposal => proposed(picture, change, []);

/** What only helps where the pod itself cannot change. */
const created = (picture: PodPicture, what: string, name: string): readonly PodProposal[] =>
  canChange(picture.source) ? [] : [manual(picture, { kind: 'create', what, name })];
