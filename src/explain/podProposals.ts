/**
 * Changes for pods without a suggestion from the solver: obstacles outside every plan, unusable pools, and daemons that
 * leave no room. Rehearsals show which ones help.
 */
import { Kinds, type DaemonSet } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';
import { apiVersionOf } from '../api/object.ts';
import { mergePatch } from '../kube/mergePatch.ts';
import type { ObjectName } from '../ledger/explanation.ts';
import type { PodObjection } from '../ledger/objection.ts';
import type { PodChange } from '../ledger/podChange.ts';
import { podChangeText } from '../ledger/podChangeText.ts';
import { DEFAULT_SCHEDULER } from '../pods/podKey.ts';
import type { UnplacedReason } from '../solver/reasons.ts';
import { claimProposals } from './claimProposals.ts';
import { ALL_AT_ONCE, atOnce, hasTemplate } from './podFixes.ts';
import {
  effectOf,
  manual,
  respecified,
  UNSCHEDULED,
  type PodPicture,
  type PodProposal,
  type Spec,
} from './podProposal.ts';
import { unusablePool } from './poolProposals.ts';
import { patchOf, podTarget } from './proposal.ts';
import {
  invalidKeys,
  optedIn,
  withDefaultScheduler,
  withEmptyDir,
  withoutGates,
  withoutInvalid,
  withoutResourceClaims,
  together,
} from './specEdits.ts';
import { withLessRequests } from './workloadProposals.ts';

/** What keeps the pod from being placed. */
export type Obstacle =
  | { readonly kind: 'gated'; readonly gates: readonly string[] }
  | { readonly kind: 'other-scheduler'; readonly scheduler: string }
  | { readonly kind: 'objection'; readonly objection: PodObjection }
  | { readonly kind: 'unplaced'; readonly reason: UnplacedReason };

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

function ungated({ pod, source }: PodPicture, gates: readonly string[]): PodProposal {
  const patch = { spec: { schedulingGates: [] } };
  return {
    sentence: podChangeText({ kind: 'ungate', gates }),
    patches: [patchOf(podTarget(pod), patch)],
    effects: [patchOf(podTarget(pod), { status: UNSCHEDULED })],
    // The recreated pod must not have the gates again.
    source: { ...source, edited: withoutGates(source.edited ?? source.spec) },
  };
}

/** For pods with anti-affinity to each other: all must be recreated, at once. */
function withoutApartness(picture: PodPicture): readonly PodProposal[] {
  const { source, siblings } = picture;
  if (!hasTemplate(source)) return [];
  const change = (specs: readonly Spec[]): PodChange | undefined => {
    const keys = new Set(specs.flatMap(keptApart));
    return keys.size === 0 ? undefined : { kind: 'drop-apartness', topologyKeys: [...keys] };
  };
  const own = change([source.spec]);
  const effects = siblings.map((each) => effectOf(each, together));
  if (own !== undefined) {
    const proposal = respecified({ ...picture, source: atOnce(source) }, own, together);
    return [{ ...proposal, effects: [...proposal.effects, ...effects] }];
  }
  // The template no longer has it, but existing pods do, and the rollout waits for the new ones.
  const old = change(siblings.flatMap(({ spec }) => (spec ? [spec] : [])));
  if (old === undefined || source.target.kind !== 'Deployment') return [];
  return [
    {
      sentence: podChangeText({ kind: 'replace-at-once' }),
      patches: [patchOf(source.target, ALL_AT_ONCE)],
      effects,
      source,
    },
  ];
}

const keptApart = ({ affinity }: Spec): readonly string[] =>
  (affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(
    ({ topologyKey }) => topologyKey,
  );
