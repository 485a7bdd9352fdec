/**
 * For how long this thread is kept from other work: the most processor time that it used between two turns of a timer. Time in
 * which other processes had the processor does not count, so that a busy machine gives the same answer.
 */
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const EVERY = 2;
/** Linux alone tells the time of one thread; the first one has the number of the process. */
const FILE = `/proc/self/task/${process.pid}/schedstat`;

/** Milliseconds of the processor. */
function threadTime(): number {
  return Number(readFileSync(FILE, 'utf8').split(' ')[0]) / 1e6;
}

export class Hold {
  private readonly timer: NodeJS.Timeout;
  private last = threadTime();
  private longest = 0;

  constructor() {
    this.timer = globalThis.setInterval(() => this.look(), EVERY);
  }

  /** Milliseconds. */
  async end(): Promise<number> {
    await setTimeout(4 * EVERY);
    clearInterval(this.timer);
    return this.longest;
  }

  private look(): void {
    const now = threadTime();
    this.longest = Math.max(this.longest, now - this.last);
    this.last = now;
  }
}
