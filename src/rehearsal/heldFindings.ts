/** What blocks nodes that should be removed. */
import { findCondition } from '../api/conditions.ts';
import { Kinds } from '../api/kinds.ts';
import type { Kube } from '../kube/kube.ts';
import type { ExplainedFix } from '../ledger/explanation.ts';
import type { Finding, Trap } from '../ledger/finding.ts';
import type { NodeFate } from '../ledger/nodeFateText.ts';
import { explainNodeIn } from './explainNodeIn.ts';
import { backlogOf } from './explainPoolIn.ts';
import { findingOf } from './findingOf.ts';
import { HOURS_PER_MONTH } from './nodeFactsOf.ts';
import type { Rehearsal, RehearsalOptions } from './rehearse.ts';

/** Blockers of savings and of replacing drifted nodes: one example per cause. */
export async function heldFindings(
  rehearsal: Rehearsal,
  fates: ReadonlyMap<string, NodeFate>,
  options: Omit<RehearsalOptions, 'objects' | 'changedPools'>,
  kube: Kube,
): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  for (const pool of backlogOf(rehearsal, fates).pools) {
    for (const blocker of pool.blockers.filter(({ cause }) => HELD.includes(cause)).slice(0, 3)) {
      const node = await explainNodeIn(rehearsal, { kind: 'node', name: blocker.example }, options, kube);
      const fixes = node?.fixes.filter(leavesPods) ?? [];
      // Where only fewer pods would let it go, it is as full as it can be: nothing holds it that is a trap.
      if (node === undefined || (fixes.length === 0 && node.fixes.length > 0)) continue;
      const trap: Trap = {
        check: 'held-node',
        nodes: blocker.nodes,
        cause: blocker.cause,
        sentence: node.sentence,
        savingsPerMonth: blocker.savingsPerHour * HOURS_PER_MONTH,
      };
      found.push(findingOf('warning', node.object, trap, fixes));
    }
  }
  const told = new Set<string>();
  for (const { view, driftedSince } of rehearsal.pass.candidates) {
    const fate = fates.get(view.claim.metadata.name);
    if (driftedSince === undefined || fate?.kind !== 'kept' || told.has(fate.kept.cause.kind)) continue;
    told.add(fate.kept.cause.kind);
    const node = await explainNodeIn(rehearsal, { kind: 'node', name: view.name }, options, kube);
    if (node === undefined || node.constraint === 'going') continue;
    const reason = findCondition(view.claim, 'Drifted')?.reason ?? '';
    found.push(findingOf('warning', node.object, { check: 'drift-held', reason, sentence: node.sentence }, node.fixes));
  }
  return found;
}

/** Blockers configured by users. */
const HELD: readonly string[] = ['pdb', 'do-not-disrupt', 'budget', 'policy', 'scheduling'];

/** A node is cordoned where its pods are to end; a fix without patches ends some that nothing makes again. */
const leavesPods = ({ patches }: ExplainedFix): boolean =>
  patches.length > 0 && !patches.some(({ target, patch }) => target.kind === Kinds.Node.kind && 'spec' in patch);
