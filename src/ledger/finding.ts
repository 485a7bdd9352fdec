/** A problem found by `doctor`, as plain data. */
import type { ExplainedFix, ObjectName } from './explanation.ts';
import type { Unready } from './poolStateText.ts';

export type Severity = 'error' | 'warning' | 'info';

/** The problem, by check. Objects by `namespace/name`. */
export type Trap =
  | ({ readonly check: 'pool-not-ready' } & Unready)
  | { readonly check: 'pool-refuses-all'; readonly stage: string; readonly sentence: string }
  | { readonly check: 'limit-reached'; readonly sentence: string }
  | { readonly check: 'limit-near'; readonly resource: string; readonly percent: number }
  | { readonly check: 'default-budget'; readonly nodes: number }
  | { readonly check: 'budget-blocks'; readonly reasons: readonly string[] }
  | { readonly check: 'budget-unreadable'; readonly index: number; readonly field: string; readonly value: string }
  | { readonly check: 'overlapping-pools'; readonly other: string; readonly weight: number }
  | { readonly check: 'consolidation-never' }
  | { readonly check: 'budget-allows-nothing'; readonly pods: number }
  | { readonly check: 'budgets-overlap'; readonly other: string; readonly pod: string }
  | { readonly check: 'no-requests'; readonly pods: number; readonly resources: readonly string[] }
  | {
      readonly check: 'held-node';
      readonly nodes: number;
      readonly cause: string;
      readonly sentence: string;
      readonly savingsPerMonth: number;
    }
  | { readonly check: 'drift-held'; readonly reason: string; readonly sentence: string }
  | { readonly check: 'image-drifts'; readonly nodes: number; readonly of: number }
  | {
      readonly check: 'spread-blocks';
      readonly keys: readonly string[];
      readonly pods: number;
      readonly nodes: number;
      readonly savingsPerMonth: number;
    }
  | { readonly check: 'pods-stuck'; readonly pods: number; readonly example: string; readonly sentence: string }
  | { readonly check: 'rights-missing'; readonly rights: readonly string[]; readonly purpose: string }
  | { readonly check: 'rights-unknown' }
  | { readonly check: 'quota-unknown'; readonly problem: string }
  | {
      readonly check: 'quota-near';
      readonly quota: string;
      readonly region: string;
      readonly used: number;
      readonly limit: number;
    };

export interface Finding {
  readonly check: Trap['check'];
  readonly severity: Severity;
  readonly object: ObjectName;
  readonly sentence: string;
  /** Best first; in the form of `explain`. */
  readonly fixes: readonly ExplainedFix[];
}
