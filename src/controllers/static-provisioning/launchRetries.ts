import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { findCondition } from '../../api/conditions.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { backoffDelay } from '../../kube/runtime/backoff.ts';

/** Milliseconds. Capacity that is missing now is rarely available a moment later. */
const BACKOFF = { base: 1_000, max: 5 * 60_000, jitter: 0.1 };

/**
 * When a static pool may try again. A claim is deleted as soon as the cloud has no capacity for it, and the pool then
 * needs another: without a wait the pool would create and delete claims as fast as the API server allows.
 */
export class LaunchRetries {
  private readonly ports: { readonly clock: Clock; readonly random: Random };
  /** By pool: consecutive failures, for pools whose latest claims had no instance. */
  private readonly failures = new Map<string, { readonly count: number; readonly until: number }>();

  constructor(ports: { readonly clock: Clock; readonly random: Random }) {
    this.ports = ports;
  }

  /** Records a failed claim. Claims deleted together count as one failure. */
  gone(pool: string, claim: NodeClaim): void {
    if (isLaunched(claim)) return;
    const { clock, random } = this.ports;
    const { count, until } = this.failures.get(pool) ?? { count: 0, until: 0 };
    if (clock.now() < until) return;
    this.failures.set(pool, { count: count + 1, until: clock.now() + backoffDelay(BACKOFF, count, random) });
  }

  seen(pool: string, claim: NodeClaim): void {
    if (isLaunched(claim)) this.failures.delete(pool);
  }

  forget(pool: string): void {
    this.failures.delete(pool);
  }

  /** Milliseconds until the next try. */
  wait(pool: string): number {
    return Math.max(0, (this.failures.get(pool)?.until ?? 0) - this.ports.clock.now());
  }
}

const isLaunched = (claim: NodeClaim): boolean => findCondition(claim, NodeClaimConditions.launched)?.status === 'True';
