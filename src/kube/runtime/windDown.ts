import { setMaxListeners } from 'node:events';
import type { Clock } from '../../clock/clock.ts';
import { LeadershipLostError } from '../leaderElection.ts';

/** Milliseconds for work to react to its aborted signal. */
const REACTION_TIME = 1_000;

/** Milliseconds for running work to finish undisturbed after a stop. */
const DEFAULT_GRACE = 2_000;

/** Work continues although it was told to stop, so its resources must not be handed over yet. */
export class StillRunningError extends Error {
  override readonly name = 'StillRunningError';
}

/**
 * Stops running work in two steps: after `stop` it has `grace` milliseconds to finish, then `signal` aborts and it has
 * a moment to react. When leadership is lost the first step is skipped, because another process is about to lead.
 */
export class WindDown {
  private readonly clock: Clock;
  private readonly grace: number;
  private readonly controller = new AbortController();

  constructor(clock: Clock, grace: number = DEFAULT_GRACE) {
    this.clock = clock;
    this.grace = grace;
    // One listener per running item is normal.
    setMaxListeners(0, this.controller.signal);
  }

  /** The signal for running work. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /**
   * Waits for `work` after a stop for `reason`; rejects with StillRunningError and the text of `describe` when it does
   * not end.
   */
  async finish(work: Promise<void>, reason: unknown, describe: () => string): Promise<void> {
    const grace = reason instanceof LeadershipLostError ? 0 : this.grace;
    if (await settlesWithin(this.clock, work, grace)) return;
    this.controller.abort(reason);
    if (await settlesWithin(this.clock, work, REACTION_TIME)) return;
    throw new StillRunningError(describe());
  }
}

/** True when `work` resolves in time, false otherwise; rejects when it rejects. */
export function settlesWithin(clock: Clock, work: Promise<void>, milliseconds: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(milliseconds, () => resolve(false));
    work.then(
      () => {
        cancel();
        resolve(true);
      },
      (error: unknown) => {
        cancel();
        reject(error as Error);
      },
    );
  });
}

/** Resolves when `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
