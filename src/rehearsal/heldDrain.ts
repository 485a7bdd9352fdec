/** What becomes of a node that is to go whatever its pods say, when they keep its drain from ever being done. */
import type { Pod } from '../api/kinds.ts';
import { isWaitingEviction } from '../cluster/drain.ts';
import { PodBudgets } from '../cluster/disruptionBudgets.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import type { PodCause } from '../disruption/kept.ts';
import type { NodeFate } from '../ledger/nodeFateText.ts';
import { isDoNotDisrupt } from '../pods/doNotDisrupt.ts';
import { podKey } from '../pods/podKey.ts';
import type { Rehearsal } from './rehearse.ts';

/** Reasons for which a claim is deleted without a look at the budgets of its pods. */
const UNASKED: readonly string[] = ['Surplus'];

export function withHeldDrain(fate: NodeFate, { claim, pods }: NodeView, { pass, world }: Rehearsal): NodeFate {
  const isGoing = fate.kind === 'goes' ? UNASKED.includes(fate.reason) : fate.kept.cause.kind === 'deleting';
  // With a grace period the pods go in the end.
  if (!isGoing || claim === undefined || claim.spec.terminationGracePeriod !== undefined) return fate;
  const budgets = new PodBudgets(world.informers.disruptionBudgets.store.list());
  for (const pod of pods) {
    const cause = isWaitingEviction(pod, pass.now) ? causeOf(pod, budgets, pass.now) : undefined;
    if (cause !== undefined) return { kind: 'kept', kept: { nodeClaim: claim.metadata.name, cause } };
  }
  return fate;
}

function causeOf(pod: Pod, budgets: PodBudgets, now: number): PodCause | undefined {
  if (isDoNotDisrupt(pod, now)) return { kind: 'do-not-disrupt-pod', pod: podKey(pod) };
  const refusing = budgets.refusing(pod);
  if (refusing.length === 0) return undefined;
  const names = refusing.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`);
  return { kind: 'pdb', pod: podKey(pod), budgets: names };
}
