/** When each pod that waits was first seen, until a decision about it stands. Bounded by the pods that wait. */
export class PodAcknowledgements {
  readonly #seen = new Map<string, number>();
  readonly #decided = new Set<string>();

  /** True at the first sight of the pod. */
  acknowledge(uid: string, now: number): boolean {
    if (this.#decided.has(uid) || this.#seen.has(uid)) return false;
    this.#seen.set(uid, now);
    return true;
  }

  /** Milliseconds from first sight to the first decision; undefined for every later one. */
  decide(uid: string, now: number): number | undefined {
    const seen = this.#seen.get(uid);
    if (seen === undefined) return undefined;
    this.#seen.delete(uid);
    this.#decided.add(uid);
    return now - seen;
  }

  forget(uid: string): void {
    this.#seen.delete(uid);
    this.#decided.delete(uid);
  }
}
