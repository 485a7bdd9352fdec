/**
 * A token bucket: at most `burst` requests at once, `qps` per second in the long run. Call `take()` before each
 * request; it resolves in call order when the request may be sent.
 */
import type { Clock } from '../clock/clock.ts';

export class RateLimit {
  private readonly qps: number;
  private readonly burst: number;
  private readonly clock: Clock;
  private tokens: number;
  private updatedAt: number;

  constructor(options: { readonly qps: number; readonly burst: number; readonly clock: Clock }) {
    if (!(options.qps > 0) || !(options.burst >= 1)) {
      throw new RangeError(
        `a rate limit needs qps above 0 and burst of at least 1, not ${options.qps}/${options.burst}`,
      );
    }
    this.qps = options.qps;
    this.burst = options.burst;
    this.clock = options.clock;
    this.tokens = options.burst;
    this.updatedAt = options.clock.now();
  }

  async take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const now = this.clock.now();
    // A wall clock can go back, which must not remove tokens.
    const elapsed = Math.max(0, now - this.updatedAt);
    this.updatedAt = now;
    // The bucket may become negative: each waiter owns a future token.
    this.tokens = Math.min(this.burst, this.tokens + (elapsed * this.qps) / 1000) - 1;
    if (this.tokens >= 0) return;
    try {
      await this.clock.sleep((-this.tokens * 1000) / this.qps, signal);
    } catch (error) {
      this.tokens += 1;
      throw error;
    }
  }
}
