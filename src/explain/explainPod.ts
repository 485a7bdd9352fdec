/** Why a pod waits, or where it goes: the deciding constraint, the evidence, and changes verified with the solver. */
import type { Pod } from '../api/kinds.ts';
import { preemptedNode } from '../api/placementHint.ts';
import { objectionText } from '../ledger/objectionText.ts';
import type { PodObjection } from '../ledger/objection.ts';
import { changeText, remadeText } from '../ledger/changeText.ts';
import { podStateText, type PodState } from '../ledger/podStateText.ts';
import { poolRefusalText, reasonLines } from '../ledger/reasonText.ts';
import { DEFAULT_SCHEDULER, podKey } from '../pods/podKey.ts';
import { isTerminal, isTerminating } from '../pods/podPredicates.ts';
import { applyEdits, type Edit } from '../solver/edit.ts';
import { podGroup, withoutGroup } from '../solver/model/podShape.ts';
import type { Solution } from '../solver/problem.ts';
import type { LabelConflict, PoolRefusal, RefusalStage, SmallestChange, UnplacedReason } from '../solver/reasons.ts';
import { findFixes, type Asked } from '../solver/smallestChange.ts';
import type { Explanation, ObjectName } from '../ledger/explanation.ts';
import { canChange, hasTemplate, podFix, type PodSource } from './podFixes.ts';
import type { Obstacle } from './podProposals.ts';

export interface PodQuestion {
  /** As the loops see it. */
  readonly pod: Pod;
  readonly source: PodSource;
  /** Why it is excluded before any node is considered. */
  readonly objection?: PodObjection;
  /** The claim of the node being launched for it. */
  readonly promisedClaim?: string;
  /** The plan for all waiting pods, including this one. */
  readonly asked: Asked;
  /** The same for fixes, which must give all waiting pods of its owner a place. */
  readonly askedForFixes?: Asked;
  /** Names of schedulers whose pods are provisioned for. */
  readonly schedulers?: readonly string[];
  /** Pools that are ready and keep a number of nodes. */
  readonly staticPools?: readonly string[];
}

/** An explanation, and the obstacle to the pod's placement; undefined when there is none. */
export interface PodAnswer extends Explanation {
  readonly obstacle: Obstacle | undefined;
}

const MOST_FIXES = 3;

export function explainPod(question: PodQuestion): PodAnswer {
  const { pod, objection, asked, staticPools = [] } = question;
  const object: ObjectName = {
    apiVersion: 'v1',
    kind: 'Pod',
    namespace: pod.metadata.namespace ?? 'default',
    name: pod.metadata.name,
  };
  const state = stateOf(question);
  if (state !== undefined) {
    return {
      object,
      sentence: podStateText(state),
      constraint: state.kind,
      evidence: [],
      fixes: [],
      obstacle: state.kind === 'gated' || state.kind === 'other-scheduler' ? state : undefined,
    };
  }
  if (objection !== undefined) {
    const obstacle = { kind: 'objection', objection } as const;
    return {
      object,
      sentence: objectionText(objection),
      constraint: objection.kind,
      evidence: [],
      fixes: [],
      obstacle,
    };
  }
  const reason = asked.solution.unplaced.find((each) => each.pod === podKey(pod))?.reason;
  if (reason === undefined) {
    const place = placeOf(asked.solution, podKey(pod));
    return {
      object,
      sentence: podStateText(place),
      constraint: place.kind,
      evidence: [],
      fixes: [],
      obstacle: undefined,
    };
  }
  const obstacle = { kind: 'unplaced', reason } as const;
  if (reason.kind === 'group') return { object, ...groupAnswer(question, reason), obstacle };
  const { source } = question;
  const found = fixesFor(question.askedForFixes ?? asked, pod, reason, source);
  // The creator of the pod is unknown, so no patch can change it.
  const anew = canChange(source) || found.length > 0 ? [] : findFixes(asked, pod, reason, 1, 'any');
  const binding = bindingRefusal(reason, (found[0] ?? anew[0])?.[0]?.change);
  const isHeldByStatic = reason.kind === 'no-pools' && staticPools.length > 0;
  const lines = isHeldByStatic
    ? [podStateText({ kind: 'only-static-pools', nodePools: staticPools }), ...reasonLines(reason).slice(1)]
    : reasonLines(reason);
  return {
    object,
    sentence: binding === undefined ? lines.join('; ') : poolRefusalText(binding),
    constraint: binding?.stage ?? (isHeldByStatic ? 'static-pool' : reason.kind),
    evidence: lines,
    fixes: [
      ...found.map((edits) => podFix(edits, source, asked.pools)),
      ...anew.map((edits) => ({
        sentence: remadeText(source.target, edits.map(({ change }) => changeText(change)).join(', and ')),
        patches: [],
      })),
    ],
    obstacle,
  };
}

/** If the owner would not replace the pod by itself, changes that leave it alone come first. */
function fixesFor(asked: Asked, pod: Pod, reason: UnplacedReason, source: PodSource): (readonly Edit[])[] {
  const any = canChange(source) ? findFixes(asked, pod, reason, MOST_FIXES, 'any') : [];
  if (hasTemplate(source) && source.scale === undefined && source.remake === undefined) return any;
  const around = findFixes(asked, pod, reason, MOST_FIXES, hasTemplate(source) ? 'none' : 'tolerations');
  const textOf = (edits: readonly Edit[]): string => JSON.stringify(edits.map(({ change }) => change));
  const known = new Set(around.map(textOf));
  return [...around, ...any.filter((edits) => !known.has(textOf(edits)))].slice(0, MOST_FIXES);
}

/** Obstacle of a member that blocks its whole group. The pods come from one template, so the fix applies to all. */
function groupAnswer({ pod, source, asked }: PodQuestion, reason: UnplacedReason): Omit<Explanation, 'object'> {
  const group = podGroup(pod);
  const { overlay, options, pools } = asked;
  const alone = overlay.pods.map((each) => (podGroup(each) === group ? withoutGroup(each) : each));
  const solution = asked.ask({ ...overlay, pods: alone }, options, pools);
  const members = new Map(
    alone.filter((_, at) => isMember(overlay.pods[at], group)).map((each) => [podKey(each), each]),
  );
  const lacking = solution.unplaced.find((each) => members.has(each.pod));
  const member = lacking && members.get(lacking.pod);
  const podSpec = canChange(source) ? 'any' : 'tolerations';
  const found =
    lacking && member
      ? findFixes(
          { ...asked, overlay: { ...overlay, pods: alone }, solution },
          member,
          lacking.reason,
          MOST_FIXES,
          podSpec,
        )
      : [];
  const helping = found.filter((edits) => {
    const pods = overlay.pods.map((each) =>
      isMember(each, group) ? applyEdits(edits, { pod: each, pools }).pod : each,
    );
    const changed = applyEdits(edits, { pod, pools }).pools;
    return !asked.ask({ ...overlay, pods }, options, changed).unplaced.some((each) => each.pod === podKey(pod));
  });
  return {
    sentence: reasonLines(reason).join('; '),
    constraint: 'group',
    evidence:
      lacking === undefined ? reasonLines(reason) : [`${lacking.pod}: ${reasonLines(lacking.reason).join('; ')}`],
    fixes: helping.map((edits) => podFix(edits, source, pools)),
  };
}

const isMember = (pod: Pod | undefined, group: string | undefined): boolean =>
  pod !== undefined && podGroup(pod) === group;

function stateOf(question: PodQuestion): PodState | undefined {
  const { pod, source, promisedClaim, schedulers = [DEFAULT_SCHEDULER] } = question;
  const { spec, status } = pod;
  if (isTerminal(pod)) return { kind: 'ended', phase: status?.phase ?? '' };
  if (isTerminating(pod)) return { kind: 'terminating' };
  if (spec?.nodeName) return { kind: 'bound', node: spec.nodeName };
  if (source.isOutdated === true) return { kind: 'outdated', owner: source.target.name };
  const gates = (spec?.schedulingGates ?? []).map(({ name }) => name);
  if (gates.length > 0) return { kind: 'gated', gates };
  const scheduler = spec?.schedulerName ?? DEFAULT_SCHEDULER;
  if (!schedulers.includes(scheduler)) return { kind: 'other-scheduler', scheduler };
  const preempted = preemptedNode(pod);
  if (preempted !== undefined) return { kind: 'preempting', node: preempted };
  if (promisedClaim !== undefined) return { kind: 'promised', nodeClaim: promisedClaim };
  return undefined;
}

function placeOf({ onExisting, plannedNodes }: Solution, key: string): PodState {
  const existing = onExisting.find(({ pods }) => pods.includes(key));
  if (existing !== undefined) return { kind: 'fits', node: existing.node };
  const planned = plannedNodes.find(({ pods }) => pods.includes(key));
  const [first] = planned?.alternatives ?? [];
  if (planned === undefined || first === undefined) return { kind: 'not-looked-at' };
  return { kind: 'planned', nodePool: planned.pool, alternative: first };
}

const STAGE_OF: Readonly<Record<SmallestChange['kind'], readonly RefusalStage[]>> = {
  toleration: ['taints'],
  'pool-taint': ['taints'],
  'node-selector': ['requirements', 'instance-types', 'offerings'],
  'affinity-term': ['requirements', 'instance-types', 'offerings'],
  'pool-requirement': ['requirements', 'instance-types', 'offerings'],
  'pool-label': ['requirements'],
  'min-values': ['min-values'],
  spread: ['topology'],
  'pod-affinity': ['topology'],
  'host-ports': ['host-ports'],
  resource: ['resources'],
  requests: ['resources'],
  limit: ['limits'],
};

/** In the order in which a pool is evaluated. */
const STAGES: readonly RefusalStage[] = [
  'taints',
  'requirements',
  'instance-types',
  'resources',
  'offerings',
  'host-ports',
  'volumes',
  'limits',
  'quota',
  'min-values',
  'topology',
];

/** The refusal that the best fix removes; without a fix, that of the pool that passed most stages. */
function bindingRefusal(reason: UnplacedReason, change: SmallestChange | undefined): PoolRefusal | undefined {
  if (reason.kind !== 'refused') return undefined;
  if (change !== undefined && 'pool' in change) {
    const own = reason.pools.find(({ pool }) => pool === change.pool);
    if (own !== undefined) return own;
  }
  const stages = change === undefined ? [] : STAGE_OF[change.kind];
  const answered = reason.pools.filter(({ stage }) => stages.includes(stage));
  const furthest = [...reason.pools].sort((left, right) => STAGES.indexOf(right.stage) - STAGES.indexOf(left.stage));
  return answered.find((refusal) => change !== undefined && isAbout(refusal, change)) ?? answered[0] ?? furthest[0];
}

/** Whether the refusal names what the change gives up. */
function isAbout(refusal: PoolRefusal, change: SmallestChange): boolean {
  const { kind } = change;
  if (kind === 'node-selector') return conflictsOf(refusal).some(({ key }) => key === change.key);
  if (kind === 'affinity-term') return conflictsOf(refusal).some(({ key }) => key === change.term.key);
  if (kind === 'spread' || kind === 'pod-affinity') {
    const { topologyKey } = change;
    return refusal.stage === 'topology' && refusal.conflicts.some((conflict) => conflict.topologyKey === topologyKey);
  }
  if (kind !== 'requests' || refusal.stage !== 'resources' || !('nearest' in refusal)) return false;
  return refusal.nearest.instanceType === change.instanceType;
}

function conflictsOf(refusal: PoolRefusal): readonly LabelConflict[] {
  if (refusal.stage === 'requirements') return refusal.conflicts;
  return refusal.stage === 'instance-types' || refusal.stage === 'offerings' ? refusal.unmet : [];
}
