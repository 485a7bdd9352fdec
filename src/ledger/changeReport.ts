/** Effect of a change on a cluster, as documented JSON. */
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
  /** Nodes removed. */
  readonly nodes: readonly string[];
  readonly replacements: readonly (Alternative & { readonly nodePool: string })[];
  /** Number of pods that must move. */
  readonly evictions: number;
}

/** How much of a subscription quota the nodes of NodePools use, in vCPUs. */
export interface QuotaShare {
  readonly quota: string;
  readonly before: number;
  /** The maximum at one time: new nodes exist before old ones are removed. */
  readonly peak: number;
  readonly after: number;
  /** Azure's limit, and the usage of all instances of the subscription, if they were queried. */
  readonly limit?: number;
  readonly used?: number;
}

export interface ChangeReport {
  readonly before: Bill;
  readonly after: Bill;
  /** Nodes removed in the end, and nodes added. */
  readonly removed: readonly string[];
  readonly added: readonly (Alternative & { readonly nodePool: string })[];
  /** Nodes that no longer match their pool. */
  readonly drifting: readonly { readonly node: string; readonly nodeClaim: string; readonly reason: string }[];
  readonly steps: readonly ChangeStep[];
  readonly quotas: readonly QuotaShare[];
  readonly evictions: number;
  /** Pods without a place in the end, and drifted nodes that remain. */
  readonly unplaced: readonly { readonly pod: string; readonly reason: string }[];
  readonly held: readonly { readonly node: string; readonly sentence: string }[];
  /** False when a rollout with too many steps was cut off. */
  readonly complete: boolean;
}
