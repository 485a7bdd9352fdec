import type { Clock } from '../../clock/clock.ts';

export interface BatcherOptions {
  readonly clock: Clock;
  /** The window closes after this long without a new trigger … */
  readonly idle: number;
  /** … or this long after the first one, in milliseconds. */
  readonly max: number;
}

/**
 * Gathers triggers into one pass: `wait` resolves once a window with at least one trigger has closed. Only an element
 * that is new to the window extends it. Repeated triggers and reminders from earlier windows do not: a backlog must not
 * keep the newest pods waiting.
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

  /** Asks for a pass without holding an open window any longer. */
  remind(element: string): void {
    if (this.seen.size === 0) this.trigger(element);
  }

  /** Gives the moment at which the window opened. Rejects when `signal` aborts first. */
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

  /** True when a new trigger came within `milliseconds`. */
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
