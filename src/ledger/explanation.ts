import type { NodeFacts } from './nodeFacts.ts';

/** Answer of `explain`, as documented JSON. */
export interface ObjectName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/**
 * A change of one object, as in `kubectl patch --type merge`. A pod without an owner, and the template of a Job, cannot
 * be changed: such an object is deleted and created again, and `patch` is the whole object (for `delete`: empty).
 */
export interface Patch {
  readonly target: ObjectName;
  readonly type: 'merge' | 'create' | 'delete';
  readonly patch: Readonly<Record<string, unknown>>;
}

/** One way to change the outcome, verified by planning with it. All its patches belong together. */
export interface ExplainedFix {
  readonly sentence: string;
  readonly patches: readonly Patch[];
}

export interface Explanation {
  readonly object: ObjectName;
  /** The deciding constraint, as a sentence. */
  readonly sentence: string;
  /** The same as a stable name: `taints`, `requirements`, `resources`, `limits`, … */
  readonly constraint: string;
  readonly evidence: readonly string[];
  /** Best first. Empty when nothing needs to change or no effective change was found. */
  readonly fixes: readonly ExplainedFix[];
  /** For a node or NodeClaim: facts and cost. */
  readonly node?: NodeFacts;
  /** For a NodePool. */
  readonly nodePool?: PoolFacts;
}

/** Cost of a NodePool, and what blocks its savings. */
export interface PoolFacts {
  readonly nodes: number;
  readonly pricePerHour: number;
  readonly pricePerMonth: number;
  readonly savingsPerHour: number;
  readonly savingsPerMonth: number;
  readonly blockers: readonly { readonly cause: string; readonly nodes: number; readonly savingsPerHour: number }[];
}
