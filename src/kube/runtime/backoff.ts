import type { Random } from '../../clock/random.ts';

/** Waits after consecutive failures: doubling from `base` up to `max`, in milliseconds. */
export interface Backoff {
  readonly base: number;
  readonly max: number;
  /**
   * Maximum share of the delay, 0 to 1, subtracted at random so that keys that failed together do not retry together.
   */
  readonly jitter?: number;
}

/** `failures` counts from 0: the first wait is `base`. */
export function backoffDelay(backoff: Backoff, failures: number, random: Random): number {
  // Beyond 2^32 the product may become Infinity, which `min` handles.
  const delay = Math.min(backoff.max, backoff.base * 2 ** Math.max(0, failures));
  const { jitter = 0 } = backoff;
  return jitter === 0 ? delay : delay * (1 - jitter * random.next());
}
