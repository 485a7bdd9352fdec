import type { ConditionSet } from '../../api/conditions.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { Instance } from '../../cloud/cloudProvider.ts';
import type { Log } from '../../kube/log.ts';
import type { World } from '../world.ts';
import type { LifecycleMetrics } from './metrics.ts';

/**
 * The claim as a reconcile works on it. Steps change the draft and its conditions; what differs from the stored claim
 * is written once, at the end.
 */
export interface Draft {
  claim: NodeClaim;
  readonly conditions: ConditionSet;
}

export interface StepContext {
  readonly world: World;
  readonly metrics: LifecycleMetrics;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly launched: LaunchCache;
}

/** Instances by the UID of their claim: a status write that was lost must not launch a second one. */
export type LaunchCache = Map<string, { readonly instance: Instance; readonly at: number }>;

/** What a step may ask for: to be looked at again later, or the end of the claim. */
export interface StepResult {
  readonly requeueAfter?: number;
  /** Delete the claim; the word goes into the disruption counter. */
  readonly giveUp?: string;
}
