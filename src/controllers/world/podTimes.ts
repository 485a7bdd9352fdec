interface Times {
  readonly seen: number;
  decided?: number;
  placed?: number;
}

/**
 * When each unschedulable pod was first seen, when it was first decided about, and when a plan first had a place for
 * it; by UID, in milliseconds. Bounded by the pods that exist: `forget` those that are gone.
 */
export class PodTimes {
  private readonly times = new Map<string, Times>();

  /** True at the first sight of the pod. */
  acknowledge(uid: string, now: number): boolean {
    if (this.times.has(uid)) return false;
    this.times.set(uid, { seen: now });
    return true;
  }

  /** Milliseconds from first sight to the first decision; undefined for every later one. */
  decide(uid: string, now: number): number | undefined {
    const times = this.times.get(uid);
    if (times === undefined || times.decided !== undefined) return undefined;
    times.decided = now;
    return now - times.seen;
  }

  /** A plan has a place for the pod. */
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
