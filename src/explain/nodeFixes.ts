/** Changes that allow a kept node to be removed, each verified by rehearsing the whole disruption pass. */
import type { ExplainedFix, Patch } from '../ledger/explanation.ts';
import { nodeChangeText } from '../ledger/nodeChangeText.ts';
import type { NodeFate } from '../ledger/nodeFateText.ts';
import { proposalsFor } from './nodeProposals.ts';
import { mergedByTarget, together, type NodePicture, type Proposal } from './proposal.ts';

/** A node and its outcome in the next pass. */
export interface NodeOutcome {
  readonly fate: NodeFate;
  readonly picture: NodePicture;
  /** Kept only if savings are expected to be short-lived, about which the controller may know more. */
  readonly isLikelyToGo?: true;
}

/** The node's outcome after patches; undefined when it no longer exists. */
export type RehearseNode = (patches: readonly Patch[]) => Promise<NodeOutcome | undefined>;

const MOST_FIXES = 2;
/** Limit on rehearsals per search. */
const MOST_TRIES = 40;
/** Limit on causes hidden behind other causes. */
const MOST_ROUNDS = 8;

/**
 * Takes the least intrusive change at every step; if that fails for sure, the most intrusive one. A smaller change that
 * may be enough is returned beside the one that is.
 */
export async function findNodeFixes(outcome: NodeOutcome, rehearse: RehearseNode): Promise<readonly ExplainedFix[]> {
  const least = await search(outcome, rehearse, 'least');
  const { sure } = least.sure.length > 0 ? least : await search(outcome, rehearse, 'most');
  if (sure.length === 0) return least.likely;
  return least.likely.length === 0 ? sure : [...sure.slice(0, 1), ...least.likely.slice(0, 1)];
}

interface Found {
  readonly sure: readonly ExplainedFix[];
  readonly likely: readonly ExplainedFix[];
}

async function search(outcome: NodeOutcome, rehearse: RehearseNode, intrusion: 'least' | 'most'): Promise<Found> {
  let { fate, picture } = outcome;
  let made: readonly Proposal[] = [];
  let tries = 0;
  const likely: ExplainedFix[] = [];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    if (fate.kind === 'goes') break;
    const found: (readonly Proposal[])[] = [];
    let next: { readonly proposal: Proposal; readonly outcome: NodeOutcome; readonly progress: number } | undefined;
    for (const proposal of proposalsFor(fate.kept.cause, picture)) {
      if (tries >= MOST_TRIES || found.length >= MOST_FIXES) break;
      tries += 1;
      const all = [...made, proposal];
      const after = await rehearseAll(all, rehearse);
      if (after === undefined || goes(after.fate)) found.push(all);
      else {
        if (after.isLikelyToGo === true) likely.push(likelyFix(all));
        const gained = progress(after.fate, fate);
        const best = next?.progress ?? 0;
        if (gained > best || (intrusion === 'most' && gained > 0 && gained === best)) {
          next = { proposal, outcome: after, progress: gained };
        }
      }
    }
    if (found.length > 0) {
      const fixes = await Promise.all(found.map(async (all) => fixOf(await fewest(all, rehearse))));
      return { sure: fixes.toSorted((one, other) => Number(isEmpty(one)) - Number(isEmpty(other))), likely };
    }
    if (next === undefined) break;
    // One cause hides the next: keep this change and look at the next cause.
    made = [...made, next.proposal];
    ({ fate, picture } = next.outcome);
  }
  return { sure: [], likely: likely.slice(0, MOST_FIXES) };
}

function rehearseAll(proposals: readonly Proposal[], rehearse: RehearseNode): ReturnType<RehearseNode> {
  return rehearse(proposals.flatMap(({ patches, effects }) => [...patches, ...effects]));
}

/** Removes changes that later ones made unnecessary. */
async function fewest(all: readonly Proposal[], rehearse: RehearseNode): Promise<readonly Proposal[]> {
  let kept = all;
  for (const proposal of all.slice(0, -1)) {
    const fewer = kept.filter((each) => each !== proposal);
    const after = await rehearseAll(fewer, rehearse);
    if (after === undefined || goes(after.fate)) kept = fewer;
  }
  return kept;
}

const isEmpty = ({ patches }: ExplainedFix): boolean => patches.length === 0;

/** It is removed now, or as soon as others that go with it or before it are removed. */
function goes(fate: NodeFate): boolean {
  if (fate.kind === 'goes') return true;
  const { kind } = fate.kept.cause;
  return kind === 'next-pass' || kind === 'other-zone-first' || kind === 'queued' || kind === 'deleting';
}

/** 2: another kind of cause; 1: the same kind with another object; 0: no change. */
function progress(after: NodeFate, before: NodeFate): number {
  if (after.kind !== 'kept' || before.kind !== 'kept') return 2;
  const [now, then] = [after.kept.cause, before.kept.cause];
  return now.kind === then.kind ? Number(JSON.stringify(now) !== JSON.stringify(then)) : 2;
}

/** How long the controller expects savings to last depends on what it has seen. */
function likelyFix(proposals: readonly Proposal[]): ExplainedFix {
  const { sentence, patches } = fixOf(proposals);
  return { sentence: nodeChangeText({ kind: 'if-savings-last', change: sentence }), patches };
}

/** Omits patches that alone would change nothing. */
function fixOf(proposals: readonly Proposal[]): ExplainedFix {
  const { sentence, patches, needsMore } = together(proposals);
  return { sentence, patches: needsMore === true ? [] : mergedByTarget(patches) };
}
