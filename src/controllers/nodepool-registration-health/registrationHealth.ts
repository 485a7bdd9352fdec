/** Number of recent launches remembered per pool, and the number of failures that makes it unhealthy. */
const MEMORY = 4;
const TOO_MANY = 2;

export type HealthVerdict = 'healthy' | 'unhealthy' | 'unknown';

/** Whether recent instances of a pool registered as nodes, by the UID of the pool. */
export class RegistrationHealth {
  private readonly outcomes = new Map<string, readonly boolean[]>();

  knows(pool: string): boolean {
    return this.outcomes.has(pool);
  }

  record(pool: string, succeeded: boolean): void {
    this.outcomes.set(pool, this.with(pool, succeeded));
  }

  /** Replaces the outcomes of the pool. */
  reset(pool: string, outcomes: readonly boolean[] = []): void {
    this.outcomes.set(pool, outcomes);
  }

  forget(pool: string): void {
    this.outcomes.delete(pool);
  }

  /** The verdict after one more outcome. */
  verdictAfter(pool: string, succeeded: boolean): HealthVerdict {
    return this.with(pool, succeeded).filter((outcome) => !outcome).length >= TOO_MANY ? 'unhealthy' : 'healthy';
  }

  private with(pool: string, succeeded: boolean): readonly boolean[] {
    return [...(this.outcomes.get(pool) ?? []), succeeded].slice(-MEMORY);
  }
}
