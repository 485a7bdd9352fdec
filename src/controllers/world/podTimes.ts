interface Times {
  readonly seen: number;
  decided?: number;
  placed?: number;
}

/**
 * By UID, in milliseconds: when each unschedulable pod was first seen, first decided about, and first had a place in a
 * plan. Bounded by existing pods: call `forget` for deleted ones.
 */
export class PodTimes {
  private readonly times = new Map<string, Times>();

  /** True when the pod is seen for the first time. */
  acknowledge(uid: string, now: number): boolean {
    if (this.times.has(uid)) return false;
    this.times.set(uid, { seen: now });
    return true;
  }

  /** Milliseconds from first sight to the first decision; undefined for later decisions. */
  decide(uid: string, now: number): number | undefined {
    const times = this.times.get(uid);
    if (times === undefined || times.decided !== undefined) return undefined;
    times.decided = now;
    return now - times.seen;
  }

  /** Records that a plan has a place for the pod. */
  place(uid: string, now: number): void {
    const times = this.times.get(uid);
    if (times !== undefined) times.placed ??= now;
  }

  placedAt(uid: string): number | undefined {
    return this.times.get(uid)?.placed;
  }

  undecidedSince(uid: string): number | undefined {
    const times = this.times.get(uid);
    return times?.decided === undefined ? times?.seen : undefined;
  }

  forget(uid: string): void {
    this.times.delete(uid);
  }
}
