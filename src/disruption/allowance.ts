/** Remaining budgets while a method chooses nodes. */
import type { DisruptionReason } from '../api/kinds/nodePool.ts';
import type { Budgets } from './budgets.ts';
import type { Candidate } from './candidate.ts';
import type { OutcomeCause } from './kept.ts';

export class Allowance {
  private readonly budgets: Budgets;
  private readonly reason: DisruptionReason;
  private readonly taken = new Map<string, number>();

  constructor(budgets: Budgets, reason: DisruptionReason) {
    this.budgets = budgets;
    this.reason = reason;
  }

  left(pool: string): number {
    return this.budgets.allowed(pool, this.reason) - (this.taken.get(pool) ?? 0);
  }

  /** Whether all of them may be disrupted together. */
  allows(candidates: readonly Candidate[]): boolean {
    return [...countByPool(candidates)].every(([pool, count]) => count <= this.left(pool));
  }

  take(candidates: readonly Candidate[]): void {
    for (const [pool, count] of countByPool(candidates)) this.taken.set(pool, (this.taken.get(pool) ?? 0) + count);
  }

  /** Why a node of the pool must wait. */
  cause(pool: string): OutcomeCause {
    const { reason, budgets } = this;
    const window = budgets.of(pool)?.byWindow[reason] ?? false;
    return { kind: 'budget', reason, allowed: budgets.allowed(pool, reason), window };
  }
}

function countByPool(candidates: readonly Candidate[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { pool } of candidates) counts.set(pool.metadata.name, (counts.get(pool.metadata.name) ?? 0) + 1);
  return counts;
}
