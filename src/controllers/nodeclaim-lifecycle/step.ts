import type { ConditionSet } from '../../api/conditions.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { Log } from '../../kube/log.ts';
import type { World } from '../world/world.ts';
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

/** How long a claim may take to launch, and its Node to join, in milliseconds. */
export interface LifecycleTimeouts {
  readonly launch: number;
  readonly registration: number;
}

export interface StepContext {
  readonly world: World;
  readonly metrics: LifecycleMetrics;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly launches: LaunchMemory;
  readonly hooks: readonly RegistrationHook[];
  readonly timeouts: LifecycleTimeouts;
}

/** What a step may ask for: to be looked at again later, or the end of the claim. */
export interface StepResult {
  readonly requeueAfter?: number;
  /** Delete the claim; the word goes into the disruption counter. */
  readonly giveUp?: string;
  /** Events and metrics to emit once the step's outcome is stored: a repeated step counts once. */
  readonly stored?: () => Promise<void> | void;
}
