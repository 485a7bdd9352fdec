/** What a change would do to a cluster, as documented JSON. */
import type { Alternative } from '../solver/problem.ts';

interface Bill {
  readonly nodes: number;
  readonly pricePerHour: number;
  readonly pricePerMonth: number;
}

export interface ChangeStep {
  /** Minutes after the change. */
  readonly minute: number;
  readonly reason: string;
  /** Nodes that go. */
  readonly nodes: readonly string[];
  readonly replacements: readonly (Alternative & { readonly nodePool: string })[];
  /** Pods that have to move. */
  readonly evictions: number;
}

/** What the nodes of NodePools take of one of the subscription's quotas, in vCPUs. */
export interface QuotaShare {
  readonly quota: string;
  readonly before: number;
  /** At most at one time: new nodes are there before old ones go. */
  readonly peak: number;
  readonly after: number;
  /** What Azure allows and what all instances of the subscription use of it, where it was asked. */
  readonly limit?: number;
  readonly used?: number;
}

export interface ChangeReport {
  readonly before: Bill;
  readonly after: Bill;
  /** Nodes of before that are gone in the end, and those that have come. */
  readonly removed: readonly string[];
  readonly added: readonly (Alternative & { readonly nodePool: string })[];
  /** Nodes that do not match their pool any more. */
  readonly drifting: readonly { readonly node: string; readonly nodeClaim: string; readonly reason: string }[];
  readonly steps: readonly ChangeStep[];
  readonly quotas: readonly QuotaShare[];
  readonly evictions: number;
  /** Pods without a place in the end, and drifted nodes that stay. */
  readonly unplaced: readonly { readonly pod: string; readonly reason: string }[];
  readonly held: readonly { readonly node: string; readonly sentence: string }[];
  /** Whether everything was said: a rollout that takes too many steps is cut. */
  readonly complete: boolean;
}
