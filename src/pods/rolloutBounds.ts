/** How many pods of a Deployment may be added or missing during a rolling update. */
import type { Deployment } from '../api/kinds.ts';

export interface RolloutBounds {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/** `3`, `25%`: an absolute number or a share of `total`. */
export function resolveShare(
  value: string | number | undefined,
  total: number,
  round: (value: number) => number,
): number {
  if (value === undefined) return 0;
  if (typeof value === 'number') return value;
  return value.endsWith('%') ? round((Number(value.slice(0, -1)) / 100) * total) : Number(value);
}

type Strategy = NonNullable<Deployment['spec']>['strategy'];

/** For rolling updates. */
export function boundsOf(replicas: number, strategy: Strategy): RolloutBounds {
  const rolling = strategy?.rollingUpdate;
  const maxSurge = resolveShare(rolling?.maxSurge ?? '25%', replicas, Math.ceil);
  const maxUnavailable = resolveShare(rolling?.maxUnavailable ?? '25%', replicas, Math.floor);
  // If both were zero, there would be no progress.
  const least = maxSurge === 0 ? 1 : 0;
  return { maxSurge, maxUnavailable: Math.min(replicas, Math.max(least, maxUnavailable)) };
}
