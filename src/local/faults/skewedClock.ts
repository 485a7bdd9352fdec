/** A clock that is wrong while a clock-skew fault is active. */
import type { Clock } from '../../clock/clock.ts';
import type { Faults } from './faults.ts';

/** Returns a clock with a wrong time of day but right durations, as on a host whose clock was set wrong. */
export function skewedClock(clock: Clock, faults: Faults): Clock {
  const skews = (): number[] =>
    faults.list().map(({ order }) => (order.kind === 'clock-skew' ? (order.numbers['by'] ?? 60_000) : 0));
  return {
    now: () => skews().reduce((sum, skew) => sum + skew, clock.now()),
    monotonic: () => clock.monotonic(),
    sleep: (milliseconds, signal) => clock.sleep(milliseconds, signal),
    after: (milliseconds, action) => clock.after(milliseconds, action),
    track: (work) => clock.track(work),
  };
}
