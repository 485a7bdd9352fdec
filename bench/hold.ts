/**
 * How long this thread is blocked: the most CPU time that it used between two turns of a timer. Time of other processes
 * does not count, so that a busy machine gives the same answer.
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
