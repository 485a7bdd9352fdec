/** Nodes that may be disrupted, each with the data that decisions need. */
import { NodeClaimConditions } from '../api/conditionTypes.ts';
import { findCondition } from '../api/conditions.ts';
import type { Node, Pod } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Annotations, Labels, Taints } from '../api/labels.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import type { PodBudgets } from '../cluster/disruptionBudgets.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import { disruptionShield, isDoNotDisrupt } from '../pods/doNotDisrupt.ts';
import { podKey } from '../pods/podKey.ts';
import { isActive, isNodePod, isReschedulable } from '../pods/podPredicates.ts';
import { tolerates } from '../pods/taints.ts';
import { priceOf, rescheduleDisruptionCost } from './costs.ts';
import type { CandidateCause, Kept, KeptCause, PodCause } from './kept.ts';

export interface Candidate {
  readonly view: NodeView & { readonly node: Node; readonly claim: NodeClaim };
  readonly pool: NodePool;
  /** Undefined if the pool no longer offers the type. */
  readonly instanceType: InstanceType | undefined;
  readonly zone: string | undefined;
  readonly capacityType: string | undefined;
  /** US dollars; 0 when unknown. */
  readonly pricePerHour: number;
  /** Pods that must be rescheduled when the node is removed. */
  readonly pods: readonly Pod[];
  /** Those of `pods` that can be evicted; the others need no room elsewhere. */
  readonly movable: readonly Pod[];
  /** 1 for the node, plus the cost of moving each pod. */
  readonly disruptionCost: number;
  /** Dollars per hour per unit of disruption cost. */
  readonly savingsRatio: number;
  /** Milliseconds since 1970; undefined if the node has not drifted. */
  readonly driftedSince: number | undefined;
  /** A pod that must not be evicted now. Eventual methods may ignore it. */
  readonly heldBy: PodCause | undefined;
}

/** A NodePool whose instance types are known. */
export interface PoolCatalogue {
  readonly pool: NodePool;
  readonly instanceTypes: readonly InstanceType[];
}

export interface CandidateInput {
  readonly now: number;
  readonly views: readonly NodeView[];
  /** By name; a pool whose instance types are unknown is missing. */
  readonly pools: ReadonlyMap<string, PoolCatalogue>;
  readonly podBudgets: PodBudgets;
  /** A command for this claim's node is in progress. */
  readonly isQueued: (claim: string) => boolean;
  /** Pods are about to be bound to the node of this name. */
  readonly isNominated: (node: string) => boolean;
}

export interface Candidates {
  /** Sorted by node name. */
  readonly candidates: readonly Candidate[];
  readonly kept: readonly Kept[];
}

/** Nodes without a claim are not managed here and are in neither list. */
export function findCandidates(input: CandidateInput): Candidates {
  const candidates: Candidate[] = [];
  const kept: Kept[] = [];
  for (const view of input.views) {
    if (view.claim === undefined) continue;
    const found = judge(view, input);
    if ('cause' in found) kept.push(found);
    else candidates.push(found);
  }
  return { candidates, kept };
}

export function keptNode(view: NodeView, cause: KeptCause): Kept {
  const { node, claim, nodePool } = view;
  return {
    ...(node && { node: node.metadata.name }),
    ...(claim && { nodeClaim: claim.metadata.name }),
    ...(nodePool !== undefined && { nodePool }),
    cause,
  };
}

function judge(view: NodeView, input: CandidateInput): Candidate | Kept {
  const { claim, node } = view;
  const because = (cause: CandidateCause): Kept => keptNode(view, cause);
  if (claim === undefined || input.isQueued(claim.metadata.name)) return because({ kind: 'queued' });
  if (node === undefined) return because({ kind: 'no-node' });
  if (!view.initialized) return because({ kind: 'not-initialized' });
  if (view.deleting) return because({ kind: 'deleting' });
  if (input.isNominated(view.name)) return because({ kind: 'nominated' });
  if (node.metadata.annotations?.[Annotations.doNotDisrupt] === 'true') return because({ kind: 'do-not-disrupt-node' });
  if (view.nodePool === undefined) return because({ kind: 'no-pool-label' });
  const offer = input.pools.get(view.nodePool);
  if (offer === undefined || offer.instanceTypes.length === 0) {
    return because({ kind: 'pool-not-found', pool: view.nodePool });
  }
  // Claim and Node exist: cast instead of copying, so that caches by the view's identity keep working.
  return candidateOf(view as Candidate['view'], offer, input);
}

function candidateOf(
  view: Candidate['view'],
  { pool, instanceTypes }: PoolCatalogue,
  { now, podBudgets }: CandidateInput,
): Candidate {
  const { labels, pods } = view;
  const zone = labels[Labels.zone];
  const capacityType = labels[Labels.capacityType];
  const name = labels[Labels.instanceType];
  const instanceType = name === undefined ? undefined : typesByName(instanceTypes).get(name);
  const pricePerHour = priceOf(instanceType, zone, capacityType);
  const own = pods.filter(isReschedulable);
  const disruptionCost = rescheduleDisruptionCost(own);
  const drifted = findCondition(view.claim, NodeClaimConditions.drifted);
  return {
    view,
    pool,
    instanceType,
    zone,
    capacityType,
    pricePerHour,
    pods: own,
    movable: own.filter((pod) => !isDoNotDisrupt(pod, now) && !podBudgets.isFullyBlocked(pod)),
    disruptionCost,
    savingsRatio: pricePerHour / disruptionCost,
    driftedSince: drifted?.status === 'True' ? timeOf(drifted.lastTransitionTime) : undefined,
    heldBy: podHolding(pods, podBudgets, now),
  };
}

/** The first pod that keeps the node: pods with do-not-disrupt before pods protected by a PodDisruptionBudget. */
function podHolding(pods: readonly Pod[], budgets: PodBudgets, now: number): PodCause | undefined {
  const active = pods.filter(isActive);
  for (const pod of active) {
    const shield = disruptionShield(pod, now);
    if (shield.state !== 'forever' && shield.state !== 'until') continue;
    const until = shield.state === 'until' ? shield.end : undefined;
    return { kind: 'do-not-disrupt-pod', pod: podKey(pod), ...(until !== undefined && { until }) };
  }
  for (const pod of active) {
    if (isNodePod(pod) || staysOn(pod)) continue;
    const refusing = budgets.refusing(pod);
    if (refusing.length === 0) continue;
    const names = refusing.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`);
    return { kind: 'pdb', pod: podKey(pod), budgets: names };
  }
  return undefined;
}

/** A pod that tolerates the taint of a disrupted node is not evicted. */
const staysOn = ({ spec }: Pod): boolean => (spec?.tolerations ?? []).some((each) => tolerates(each, Taints.disrupted));

const timeOf = (text: string | undefined): number => Date.parse(text ?? '') || 0;

/** Instance types by name, per list; lists are immutable and reused. */
const indexes = new WeakMap<readonly InstanceType[], ReadonlyMap<string, InstanceType>>();

export function typesByName(types: readonly InstanceType[]): ReadonlyMap<string, InstanceType> {
  let index = indexes.get(types);
  if (index === undefined) indexes.set(types, (index = new Map(types.map((type) => [type.name, type]))));
  return index;
}
