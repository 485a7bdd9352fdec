import type { NodeFacts } from './nodeFacts.ts';

/** What `explain` answers, as documented JSON. */
export interface ObjectName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/**
 * A change of one object: what `kubectl patch --type merge` makes. A pod that nothing owns cannot change, and a Job's template
 * neither: they are deleted and created again, `patch` being the whole object (of `delete`: empty).
 */
export interface Patch {
  readonly target: ObjectName;
  readonly type: 'merge' | 'create' | 'delete';
  readonly patch: Readonly<Record<string, unknown>>;
}

/** One way to another outcome, verified by planning with it. All its patches belong together. */
export interface ExplainedFix {
  readonly sentence: string;
  readonly patches: readonly Patch[];
}

export interface Explanation {
  readonly object: ObjectName;
  /** The one constraint that decides, in words. */
  readonly sentence: string;
  /** The same as a stable name: `taints`, `requirements`, `resources`, `limits`, … */
  readonly constraint: string;
  readonly evidence: readonly string[];
  /** Best first. Empty when nothing needs to change, or when no change was found that helps. */
  readonly fixes: readonly ExplainedFix[];
  /** Of a node or NodeClaim: what it is and what it costs. */
  readonly node?: NodeFacts;
  /** Of a NodePool. */
  readonly nodePool?: PoolFacts;
}

/** What a NodePool costs, and what holds its savings. */
export interface PoolFacts {
  readonly nodes: number;
  readonly pricePerHour: number;
  readonly pricePerMonth: number;
  readonly savingsPerHour: number;
  readonly savingsPerMonth: number;
  readonly blockers: readonly { readonly cause: string; readonly nodes: number; readonly savingsPerHour: number }[];
}
