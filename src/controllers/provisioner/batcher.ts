import type { Clock } from '../../clock/clock.ts';

export interface BatcherOptions {
  readonly clock: Clock;
  /** The window closes after this long without a new trigger … */
  readonly idle: number;
  /** … or this long after the first one, in milliseconds. */
  readonly max: number;
}

/**
 * Collects triggers into one pass: `wait` resolves once a window with at least one trigger has closed. Only elements
 * new to the window extend it. Repeated triggers and reminders from earlier windows do not, so that a backlog does not
 * delay the newest pods.
 */
export class Batcher {
  private readonly options: BatcherOptions;
  private readonly seen = new Set<string>();
  private wake: (() => void) | undefined;

  constructor(options: BatcherOptions) {
    this.options = options;
  }

  trigger(element: string): void {
    if (this.seen.has(element)) return;
    this.seen.add(element);
    this.wake?.();
  }

  /** Requests a pass without extending an open window. */
  remind(element: string): void {
    if (this.seen.size === 0) this.trigger(element);
  }

  /** Returns the time at which the window opened. Rejects when `signal` aborts first. */
  async wait(signal: AbortSignal): Promise<number> {
    const { clock, idle, max } = this.options;
    if (this.seen.size === 0) await this.next(signal);
    const opened = clock.now();
    const end = opened + max;
    for (;;) {
      const left = Math.min(idle, end - clock.now());
      if (left <= 0 || !(await this.nextWithin(left, signal))) break;
    }
    this.seen.clear();
    return opened;
  }

  private next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => settle(() => reject(signal.reason as Error));
      const settle = (finish: () => void): void => {
        this.wake = undefined;
        signal.removeEventListener('abort', onAbort);
        finish();
      };
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort);
      this.wake = () => settle(resolve);
    });
  }

  /** True when a new trigger arrives within `milliseconds`. */
  private async nextWithin(milliseconds: number, signal: AbortSignal): Promise<boolean> {
    const quiet = new AbortController();
    const cancel = this.options.clock.after(milliseconds, () => quiet.abort());
    try {
      await this.next(AbortSignal.any([signal, quiet.signal]));
      return true;
    } catch (error) {
      if (signal.aborted || !quiet.signal.aborted) throw error;
      return false;
    } finally {
      cancel();
    }
  }
}
