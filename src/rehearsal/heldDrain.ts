/** Outcome for a node that is removed regardless of its pods, when they block its drain forever. */
import type { Pod, PodDisruptionBudget } from '../api/kinds.ts';
import { isWaitingEviction } from '../cluster/drain.ts';
import { PodBudgets } from '../cluster/disruptionBudgets.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import { surplusOf } from '../controllers/static-deprovisioning/controller.ts';
import type { PodCause } from '../disruption/kept.ts';
import type { NodeFate } from '../ledger/nodeFateText.ts';
import { isDoNotDisrupt } from '../pods/doNotDisrupt.ts';
import { podKey } from '../pods/podKey.ts';
import { isReschedulable } from '../pods/podPredicates.ts';
import type { Rehearsal } from './rehearse.ts';

/** Reasons for deleting a claim without checking PodDisruptionBudgets. */
const UNASKED: readonly string[] = ['Surplus'];

/**
 * Whether the node is removed even if its pods find no place. With a terminationGracePeriod they are deleted in the
 * end.
 */
function isDrainedUnasked(fate: NodeFate, { claim }: NodeView): boolean {
  const isGoing = fate.kind === 'goes' ? UNASKED.includes(fate.reason) : fate.kept.cause.kind === 'deleting';
  return isGoing && claim !== undefined && claim.spec.terminationGracePeriod === undefined;
}

/**
 * Pods that such a node, and those that leave with it, evict and that find no other place: their budgets count them as
 * unavailable from then on.
 */
export function homelessPods(fate: NodeFate, view: NodeView, { moment, pass }: Rehearsal): readonly Pod[] {
  if (!isDrainedUnasked(fate, view)) return [];
  const leaving = [view, ...leavingNodes(pass).filter(({ name }) => name !== view.name)];
  const pods = leaving.flatMap((each) =>
    each.pods.filter((pod) => isWaitingEviction(pod, pass.now) && isReschedulable(pod)),
  );
  const withoutNodes = new Set(leaving.map(({ name }) => name));
  const { unplaced } = moment.ask({ pods, withoutNodes }, { searchRounds: 0, outcomeOnly: true });
  const keys = new Set(unplaced.map(({ pod }) => pod));
  return pods.filter((pod) => keys.has(podKey(pod)));
}

/** Nodes that are being deleted, and those that static pools have too many of. */
function leavingNodes({ views, pools, now }: Rehearsal['pass']): readonly NodeView[] {
  const surplus = [...pools.values()].flatMap(({ pool: { metadata, spec } }) =>
    spec.replicas === undefined ? [] : surplusOf(views, metadata.name, spec.replicas, now),
  );
  return [...views.filter(({ deleting }) => deleting), ...surplus];
}

export function withHeldDrain(fate: NodeFate, view: NodeView, rehearsal: Rehearsal): NodeFate {
  const { claim, pods } = view;
  const { pass, world } = rehearsal;
  if (claim === undefined || !isDrainedUnasked(fate, view)) return fate;
  const budgets = new PodBudgets(world.informers.disruptionBudgets.store.list());
  for (const pod of pods) {
    const cause = isWaitingEviction(pod, pass.now) ? causeOf(pod, budgets, pass.now) : undefined;
    if (cause !== undefined) return { kind: 'kept', kept: { nodeClaim: claim.metadata.name, cause } };
  }
  const beyond = budgets.firstBeyond(homelessPods(fate, view, rehearsal));
  if (beyond === undefined) return fate;
  const cause: PodCause = { kind: 'pdb', pod: podKey(beyond.pod), budgets: [nameOf(beyond.budget)] };
  return { kind: 'kept', kept: { nodeClaim: claim.metadata.name, cause } };
}

function causeOf(pod: Pod, budgets: PodBudgets, now: number): PodCause | undefined {
  if (isDoNotDisrupt(pod, now)) return { kind: 'do-not-disrupt-pod', pod: podKey(pod) };
  const refusing = budgets.refusing(pod);
  if (refusing.length === 0) return undefined;
  return { kind: 'pdb', pod: podKey(pod), budgets: refusing.map(nameOf) };
}

const nameOf = ({ metadata }: PodDisruptionBudget): string => `${metadata.namespace ?? ''}/${metadata.name}`;
