import { SCHEMA_VERSION, type DecisionRecord } from './record.ts';

/** A record with its place in the ledger. `time` is milliseconds since 1970. */
export type LedgerEntry = DecisionRecord & { readonly sequence: number; readonly time: number };

export interface LedgerDump {
  readonly schemaVersion: number;
  /** Entries that made room for newer ones. */
  readonly dropped: number;
  /** Oldest first. */
  readonly entries: readonly LedgerEntry[];
}

const DEFAULT_LIMIT = 2_000;

/**
 * The latest decisions in memory, a bounded ring: the newest entry takes the place of the oldest. Loops write to it;
 * events, logs, the live picture and `explain` read from it.
 */
export class Ledger {
  private readonly now: () => number;
  private readonly limit: number;
  private readonly ring: LedgerEntry[] = [];
  private written = 0;
  private readonly listeners = new Set<(entry: LedgerEntry) => void>();

  constructor(options: { readonly now: () => number; readonly limit?: number }) {
    this.now = options.now;
    this.limit = Math.max(1, Math.floor(options.limit ?? DEFAULT_LIMIT));
  }

  append(record: DecisionRecord): LedgerEntry {
    const entry: LedgerEntry = { ...record, sequence: this.written, time: this.now() };
    this.ring[this.written % this.limit] = entry;
    this.written += 1;
    for (const listener of this.listeners) listener(entry);
    return entry;
  }

  /** Calls back for every entry from now on; the result ends it. */
  subscribe(listener: (entry: LedgerEntry) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Oldest first. `since` leaves out entries before that sequence number. */
  entries(since = 0): LedgerEntry[] {
    const first = Math.max(since, this.written - this.ring.length);
    return Array.from(
      { length: Math.max(0, this.written - first) },
      (_, at) => this.ring[(first + at) % this.limit],
    ).filter((entry) => entry !== undefined);
  }

  /** Newest first: what was decided about a pod, as far as the entries name it. */
  aboutPod(key: string): LedgerEntry[] {
    return this.entries()
      .filter((entry) => 'pods' in entry && typeof entry.pods === 'object' && entry.pods.names.includes(key))
      .reverse();
  }

  toJSON(): LedgerDump {
    return { schemaVersion: SCHEMA_VERSION, dropped: this.written - this.ring.length, entries: this.entries() };
  }
}
