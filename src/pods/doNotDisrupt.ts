import type { Pod } from '../api/kinds.ts';
import { Annotations } from '../api/labels.ts';
import { Duration } from '../units/duration.ts';

/**
 * Current effect of a pod's `karpenter.sh/do-not-disrupt`: permanent (`"true"`), or for a time since the pod started
 * (`"30m"`): `until` a moment, then `elapsed`.
 */
export type DisruptionShield =
  | { readonly state: 'none' }
  | { readonly state: 'invalid'; readonly value: string }
  | { readonly state: 'forever' }
  | { readonly state: 'until'; readonly end: number | undefined }
  | { readonly state: 'elapsed'; readonly end: number };

export function disruptionShield(pod: Pod, now: number): DisruptionShield {
  const value = pod.metadata.annotations?.[Annotations.doNotDisrupt];
  if (value === undefined) return { state: 'none' };
  if (value === 'true') return { state: 'forever' };
  const duration = Duration.tryParse(value);
  if (duration === undefined || duration.milliseconds <= 0) return { state: 'invalid', value };
  const { startTime } = pod.status ?? {};
  if (startTime === undefined) return { state: 'until', end: undefined };
  const end = Date.parse(startTime) + duration.milliseconds;
  return { state: now < end ? 'until' : 'elapsed', end };
}

/** Whether the pod must not be disrupted now. */
export function isDoNotDisrupt(pod: Pod, now: number): boolean {
  const { state } = disruptionShield(pod, now);
  return state === 'forever' || state === 'until';
}
