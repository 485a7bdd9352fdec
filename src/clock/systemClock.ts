import type { Clock } from './clock.ts';
import { sleepBy } from './sleep.ts';

/** The longest delay of Node's timers; longer ones fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The machine's own clock. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  monotonic(): number {
    return performance.now();
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return sleepBy((delay, action) => this.after(delay, action), milliseconds, signal);
  }

  after(milliseconds: number, action: () => void): () => void {
    let remaining = Math.max(0, milliseconds);
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const leg = Math.min(remaining, LONGEST_TIMER);
      remaining -= leg;
      timer = setTimeout(remaining > 0 ? arm : action, leg);
    };
    arm();
    return () => clearTimeout(timer);
  }

  track<T>(work: Promise<T>): Promise<T> {
    return work;
  }
}
