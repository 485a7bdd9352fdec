import type { ConditionSet } from '../../api/conditions.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { Log } from '../../kube/log.ts';
import type { World } from '../world.ts';
import type { LaunchMemory } from './launchMemory.ts';
import type { LifecycleMetrics } from './metrics.ts';
import type { RegistrationHook } from './registrationHook.ts';

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
  readonly launches: LaunchMemory;
  readonly hooks: readonly RegistrationHook[];
}

/** What a step may ask for: to be looked at again later, or the end of the claim. */
export interface StepResult {
  readonly requeueAfter?: number;
  /** Delete the claim; the word goes into the disruption counter. */
  readonly giveUp?: string;
}
