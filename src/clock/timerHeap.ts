/** An action due at one moment. `slot` is its index in the heap, -1 when it is in none. */
export interface Timer {
  readonly due: number;
  /** Insertion order; breaks ties between timers of the same moment. */
  readonly sequence: number;
  readonly action: () => void;
  slot: number;
}

/** Timers by due time, then by insertion; adding and removing any of n costs O(log n). */
export class TimerHeap {
  private readonly timers: Timer[] = [];

  get size(): number {
    return this.timers.length;
  }

  peek(): Timer | undefined {
    return this.timers[0];
  }

  add(timer: Timer): void {
    this.timers.push(timer);
    timer.slot = this.timers.length - 1;
    this.rise(timer);
  }

  /** Removes `timer`; false when it is not in the heap. */
  remove(timer: Timer): boolean {
    const { slot } = timer;
    if (slot < 0 || this.timers[slot] !== timer) return false;
    const last = this.timers.pop();
    timer.slot = -1;
    if (last !== undefined && last !== timer) {
      this.place(last, slot);
      this.rise(last);
      this.sink(last);
    }
    return true;
  }

  private rise(timer: Timer): void {
    while (timer.slot > 0) {
      const parent = this.timers[(timer.slot - 1) >> 1];
      if (parent === undefined || !isBefore(timer, parent)) return;
      this.swap(timer, parent);
    }
  }

  private sink(timer: Timer): void {
    for (;;) {
      const left = this.timers[2 * timer.slot + 1];
      const right = this.timers[2 * timer.slot + 2];
      if (left === undefined) return;
      const first = right !== undefined && isBefore(right, left) ? right : left;
      if (!isBefore(first, timer)) return;
      this.swap(first, timer);
    }
  }

  private swap(one: Timer, other: Timer): void {
    const { slot } = one;
    this.place(one, other.slot);
    this.place(other, slot);
  }

  private place(timer: Timer, slot: number): void {
    this.timers[slot] = timer;
    timer.slot = slot;
  }
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.due < other.due || (one.due === other.due && one.sequence < other.sequence);
}
