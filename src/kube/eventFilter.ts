import type { Clock } from '../clock/clock.ts';
import { RecentMap } from './recentMap.ts';

/** Parameters that decide whether an event is sent. */
export interface EventFrequency {
  readonly reason: string;
  /** Values that identify a repetition within one reason; absent: nothing is suppressed as a repetition. */
  readonly dedupeValues?: readonly string[];
  /** Milliseconds during which a repetition is suppressed; default 2 minutes. */
  readonly dedupeWindow?: number;
  /** Rate limit for all events of this reason together. */
  readonly rateLimit?: { readonly qps: number; readonly burst: number };
}

const DEFAULT_WINDOW = 120_000;

/**
 * Decides which events to send: drops repetitions first, then events beyond the rate limit of their reason. In this
 * order an event dropped by the rate limit still suppresses its repetitions.
 */
export class EventFilter {
  private readonly clock: Clock;
  /** By dedupe key: until when a repetition is suppressed. */
  private readonly silentUntil: RecentMap<string, number>;
  private readonly buckets: RecentMap<string, { tokens: number; at: number }>;

  constructor(clock: Clock, limit: number) {
    this.clock = clock;
    this.silentUntil = new RecentMap(limit);
    this.buckets = new RecentMap(limit);
  }

  admits(event: EventFrequency): boolean {
    return !this.isRepetition(event) && this.isWithinRate(event);
  }

  private isRepetition({ reason, dedupeValues = [], dedupeWindow = DEFAULT_WINDOW }: EventFrequency): boolean {
    if (dedupeValues.length === 0) return false;
    const now = this.clock.monotonic();
    const key = [reason.toLowerCase(), ...dedupeValues].join('\n');
    if (now < (this.silentUntil.get(key) ?? now)) return true;
    this.silentUntil.set(key, now + dedupeWindow);
    return false;
  }

  private isWithinRate({ reason, rateLimit }: EventFrequency): boolean {
    if (rateLimit === undefined) return true;
    const now = this.clock.monotonic();
    const bucket = this.buckets.get(reason) ?? { tokens: rateLimit.burst, at: now };
    const earned = ((now - bucket.at) * rateLimit.qps) / 1_000;
    const tokens = Math.min(rateLimit.burst, bucket.tokens + earned);
    this.buckets.set(reason, { tokens: tokens < 1 ? tokens : tokens - 1, at: now });
    return tokens >= 1;
  }
}
