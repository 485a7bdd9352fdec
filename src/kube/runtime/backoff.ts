import type { Random } from '../../clock/random.ts';

/** How long to wait after the n-th failure in a row: doubling from `base` up to `max`, in milliseconds. */
export interface Backoff {
  readonly base: number;
  readonly max: number;
  /** Share of the delay, 0 to 1, that is taken off at random so that keys that failed together do not retry together. */
  readonly jitter?: number;
}

/** `failures` counts from 0: the first wait is `base`. */
export function backoffDelay(backoff: Backoff, failures: number, random: Random): number {
  // Beyond 2^32 the product may overflow to Infinity, which `min` takes care of.
  const delay = Math.min(backoff.max, backoff.base * 2 ** Math.max(0, failures));
  const { jitter = 0 } = backoff;
  return jitter === 0 ? delay : delay * (1 - jitter * random.next());
}
