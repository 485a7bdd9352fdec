/** Events of the disruption loops for Nodes, NodeClaims and NodePools. */
import type { BalancedScore } from '../disruption/command.ts';
import type { Kept } from '../disruption/kept.ts';

/** A command as its events describe it. */
interface CommandNotice {
  /** From the perspective of one of its nodes. */
  readonly command: string;
  readonly savingsPerHour: number;
}

export type DisruptionNotice =
  | { readonly kind: 'replacement-launching'; readonly reason: string }
  | { readonly kind: 'replacement-not-ready' }
  | { readonly kind: 'disrupting'; readonly object: string; readonly reason: string }
  | { readonly kind: 'disruption-blocked'; readonly kept: Kept }
  | { readonly kind: 'unconsolidatable'; readonly kept: Kept }
  | { readonly kind: 'budget-blocked'; readonly reason: string }
  | { readonly kind: 'budget-unreadable'; readonly index: number; readonly field: string; readonly value: string }
  | { readonly kind: 'repair-over-budget' }
  | ({ readonly kind: 'consolidation-approved' } & Omit<BalancedScore, 'pool'>)
  | ({ readonly kind: 'consolidation-candidate' } & CommandNotice)
  | ({ readonly kind: 'consolidation-rejected'; readonly reason: string } & CommandNotice);
