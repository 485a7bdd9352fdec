/**
 * The least count among the domains that a spread compares. Counts only grow while pods are placed, so the result is
 * cached until their total changes.
 */
import type { Counters } from '../model/counters.ts';
import type { DomainConstraint } from '../model/podClass.ts';
import { intAt } from '../rows.ts';

export class LeastCounts {
  private readonly counters: Counters;
  /** By spread: the least count, and the total for which it was computed. */
  private readonly known = new Map<DomainConstraint, { total: number; least: number }>();
  private lastSpread: DomainConstraint | undefined;
  private lastTotal = 0;
  private lastLeast = 0;

  constructor(counters: Counters) {
    this.counters = counters;
  }

  /** Among all eligible domains. */
  eligible(constraint: DomainConstraint): number {
    const { total } = this.counters.at(constraint.counter);
    // Every domain of one pod asks for the same value.
    if (constraint === this.lastSpread && total === this.lastTotal) return this.lastLeast;
    this.lastSpread = constraint;
    this.lastTotal = total;
    this.lastLeast = this.at(constraint, total);
    return this.lastLeast;
  }

  private at(constraint: DomainConstraint, total: number): number {
    const known = this.known.get(constraint);
    if (known !== undefined && known.total === total) return known.least;
    const least = this.among(constraint, this.counters.eligible(constraint.counter));
    if (known === undefined) this.known.set(constraint, { total, least });
    else {
      known.total = total;
      known.least = least;
    }
    return least;
  }

  among({ counter, minDomains }: DomainConstraint, compared: Int32Array): number {
    if (compared.length < minDomains || compared.length === 0) return 0;
    const { counts } = this.counters.at(counter);
    let least = Number.POSITIVE_INFINITY;
    for (let at = 0; at < compared.length; at++) {
      const count = counts[intAt(compared, at)] ?? 0;
      if (count < least) least = count;
    }
    return least;
  }
}
