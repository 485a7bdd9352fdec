/**
 * For when more nodes are worth removing than budgets allow at once: plans the whole and executes its first part. If
 * each round were planned alone, pods would go to nodes that are removed next, and move twice.
 */
import { Allowance } from './allowance.ts';
import { UNLIMITED_NODES, type Budgets } from './budgets.ts';
import type { Candidate } from './candidate.ts';
import { allowedTogether } from './consolidation.ts';
import type { Pass } from './method.ts';
import { afterReplay, type Move, type Outcome } from './moves.ts';

export type Search = (open: readonly Candidate[], pass: Pass) => Generator<void, Outcome | undefined>;

/** The best set that budgets allow, or as much of a larger one as they allow. */
export function* inRounds(
  open: readonly Candidate[],
  pass: Pass,
  search: Search,
): Generator<void, Outcome | undefined> {
  if (allowedTogether(open, pass).length === open.length) return yield* search(open, pass);
  const whole = yield* search(open, { ...pass, budgets: unlimited(pass.budgets) });
  if (whole === undefined) return undefined;
  const round = afterReplay(affordable(whole.moves, pass), whole.refused, pass);
  // If nodes can only be removed together and budgets do not allow that many, looks for smaller sets.
  return round.moves.length > 0 ? round : yield* search(open, pass);
}

const unlimited = (budgets: Budgets): Budgets => ({ ...budgets, allowed: () => UNLIMITED_NODES });

/**
 * Moves that save most per node come first. Nodes that receive pods are protected for consolidateAfter, so moves to the
 * same nodes are taken together.
 */
function affordable(moves: readonly Move[], pass: Pass): readonly Move[] {
  const allowance = new Allowance(pass.budgets, 'Underutilized');
  const left = new Set([...moves].sort((one, other) => netPerNode(other) - netPerNode(one)));
  const touched = new Set<string>();
  const chosen: Move[] = [];
  for (;;) {
    const fitting = [...left].filter(({ candidates }) => allowance.allows(candidates));
    const next = fitting.find(({ onExisting }) => onExisting.some(({ node }) => touched.has(node))) ?? fitting[0];
    if (next === undefined) return chosen;
    left.delete(next);
    chosen.push(next);
    allowance.take(next.candidates);
    for (const { node } of next.onExisting) touched.add(node);
  }
}

const netPerNode = ({ net, candidates }: Move): number => net / candidates.length;
