/** Why a node exists, what it costs, and the smallest change that allows its removal. */
import type { Explanation, ObjectName } from '../ledger/explanation.ts';
import type { NodeFacts } from '../ledger/nodeFacts.ts';
import { nodeFactsLines } from '../ledger/nodeFactsText.ts';
import { nodeFateText } from '../ledger/nodeFateText.ts';
import { findNodeFixes, type NodeOutcome, type RehearseNode } from './nodeFixes.ts';

export interface NodeQuestion {
  readonly object: ObjectName;
  readonly outcome: NodeOutcome;
  readonly facts: NodeFacts;
  readonly rehearse: RehearseNode;
}

export async function explainNode({ object, outcome, facts, rehearse }: NodeQuestion): Promise<Explanation> {
  const { fate } = outcome;
  return {
    object,
    sentence: nodeFateText(fate),
    constraint: fate.kind === 'kept' ? fate.kept.cause.kind : 'going',
    evidence: nodeFactsLines(facts),
    fixes: await findNodeFixes(outcome, rehearse),
    node: facts,
  };
}
