/** Time as a port: production uses the system clock, simulations a virtual one. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds since some fixed moment. Unlike `now` it never jumps when the machine's time is set: for durations. */
  monotonic(): number;
  /** Resolves after `milliseconds`; rejects with the signal's reason when aborted first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls `action` once after `milliseconds`, unless the returned function is called before. */
  after(milliseconds: number, action: () => void): () => void;
  /**
   * Registers pending work that the clock cannot see (a socket, a file), so that a virtual clock does not advance past
   * it. Returns the same promise.
   */
  track<T>(work: Promise<T>): Promise<T>;
}
