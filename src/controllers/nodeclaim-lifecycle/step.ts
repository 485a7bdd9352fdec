import type { ConditionSet } from '../../api/conditions.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { Log } from '../../kube/log.ts';
import type { World } from '../world/world.ts';
import type { LaunchMemory } from './launchMemory.ts';
import type { LifecycleMetrics } from './metrics.ts';
import type { RegistrationHook } from './registrationHook.ts';

/**
 * The claim as modified during a reconcile. Steps change the draft and its conditions; differences from the stored
 * claim are written once, at the end.
 */
export interface Draft {
  claim: NodeClaim;
  readonly conditions: ConditionSet;
}

/** Milliseconds for a claim to launch, and for its Node to join. */
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

/** What a step may request: another reconcile later, or the deletion of the claim. */
export interface StepResult {
  readonly requeueAfter?: number;
  /** Delete the claim; the value is the reason in the disruption counter. */
  readonly giveUp?: string;
  /** Events and metrics to emit once the step's result is stored, so that a repeated step counts once. */
  readonly stored?: () => Promise<void> | void;
}
