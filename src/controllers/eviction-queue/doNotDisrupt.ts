import { Annotations } from '../../api/labels.ts';
import type { Pod } from '../../api/kinds.ts';
import { Duration } from '../../units/duration.ts';

/** Whether the pod asks to be left alone now: for good (`"true"`), or for a time since it started (`"30m"`). */
export function isDoNotDisrupt(pod: Pod, now: number): boolean {
  const value = pod.metadata.annotations?.[Annotations.doNotDisrupt];
  if (value === undefined) return false;
  if (value === 'true') return true;
  const duration = Duration.tryParse(value);
  if (duration === undefined || duration.milliseconds <= 0) return false;
  const { startTime } = pod.status ?? {};
  return startTime === undefined || now < Date.parse(startTime) + duration.milliseconds;
}
