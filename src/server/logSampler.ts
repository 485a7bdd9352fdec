/**
 * Limits identical log entries: per second, the first hundred of one level and message are written, then one in a
 * hundred.
 */
const FIRST = 100;
const THEREAFTER = 100;
const WINDOW_MILLISECONDS = 1000;
/** Further distinct messages share one count, so that memory is bounded. */
const DISTINCT_LIMIT = 4096;
const OVERFLOW = '';

export class LogSampler {
  private readonly counts = new Map<string, number>();
  private windowEnd = Number.NEGATIVE_INFINITY;

  admits(level: string, message: string, now: number): boolean {
    if (now >= this.windowEnd || now < this.windowEnd - WINDOW_MILLISECONDS) {
      this.counts.clear();
      this.windowEnd = now + WINDOW_MILLISECONDS;
    }
    const own = `${level}:${message}`;
    const key = this.counts.has(own) || this.counts.size < DISTINCT_LIMIT ? own : OVERFLOW;
    const count = (this.counts.get(key) ?? 0) + 1;
    this.counts.set(key, count);
    return count <= FIRST || (count - FIRST) % THEREAFTER === 0;
  }
}
