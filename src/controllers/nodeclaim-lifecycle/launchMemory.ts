import type { Instance } from '../../cloud/cloudProvider.ts';

interface Attempt {
  readonly instance?: Instance;
  readonly failures: number;
  /** Milliseconds since the epoch. */
  readonly retryAt: number;
}

const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 60_000;
/** An entry is kept until its claim is Launched; this limit is for claims deleted before that. */
const LIMIT = 10_000;

/**
 * Launches not yet recorded in the API server, by claim UID: instances whose record could not be written, and the retry
 * time of failed launches, which other events must not shorten.
 */
export class LaunchMemory {
  private readonly attempts = new Map<string, Attempt>();

  instanceOf(uid: string): Instance | undefined {
    return this.attempts.get(uid)?.instance;
  }

  /** Milliseconds until the next attempt; 0 when it may be made now. */
  waitFor(uid: string, now: number): number {
    return Math.max(0, (this.attempts.get(uid)?.retryAt ?? 0) - now);
  }

  succeeded(uid: string, instance: Instance): void {
    this.keep(uid, { instance, failures: 0, retryAt: 0 });
  }

  failed(uid: string, now: number): void {
    const failures = this.attempts.get(uid)?.failures ?? 0;
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** failures);
    this.keep(uid, { failures: failures + 1, retryAt: now + wait });
  }

  forget(uid: string): void {
    this.attempts.delete(uid);
  }

  private keep(uid: string, attempt: Attempt): void {
    this.attempts.delete(uid);
    this.attempts.set(uid, attempt);
    if (this.attempts.size <= LIMIT) return;
    for (const oldest of this.attempts.keys()) {
      this.attempts.delete(oldest);
      return;
    }
  }
}
