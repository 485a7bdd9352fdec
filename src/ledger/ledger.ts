import type { KeptRecord } from './disruptionRecord.ts';
import { SCHEMA_VERSION, type DecisionRecord } from './record.ts';

/** A record with its sequence number. `time` is in milliseconds since 1970. */
export type LedgerEntry = DecisionRecord & { readonly sequence: number; readonly time: number };

export interface LedgerDump {
  readonly schemaVersion: number;
  /** Number of entries overwritten by newer ones. */
  readonly dropped: number;
  /** Oldest first. */
  readonly entries: readonly LedgerEntry[];
}

const DEFAULT_LIMIT = 2_000;
/** Limit on nodes with a remembered start of being kept. */
const MOST_KEPT = 10_000;

/**
 * The latest decisions in memory, as a ring buffer. Loops write to it; events, logs, the live view and `explain` read
 * from it.
 */
export class Ledger {
  private readonly now: () => number;
  private readonly limit: number;
  private readonly ring: LedgerEntry[] = [];
  private written = 0;
  /** Sequence number of the first entry ever. */
  private first = 0;
  private readonly kept = new Map<string, { readonly cause: string; readonly since: number }>();
  private readonly listeners = new Set<(entry: LedgerEntry) => void>();

  constructor(options: { readonly now: () => number; readonly limit?: number }) {
    this.now = options.now;
    this.limit = Math.max(1, Math.floor(options.limit ?? DEFAULT_LIMIT));
  }

  append(record: DecisionRecord): LedgerEntry {
    const time = this.now();
    const dated: DecisionRecord = record.kind === 'kept' ? { ...record, since: this.keptSince(record, time) } : record;
    const entry: LedgerEntry = { ...dated, sequence: this.written, time };
    this.put(entry);
    for (const listener of this.listeners) listener(entry);
    return entry;
  }

  /** The sequence number of the next entry. */
  get nextSequence(): number {
    return this.written;
  }

  /** Loads what an earlier process wrote, oldest first; only for an empty ledger. */
  restore(entries: readonly LedgerEntry[]): void {
    const latest = entries.slice(-this.limit);
    this.first = this.written = latest[0]?.sequence ?? 0;
    // Numbers may have gaps where lines were lost; renumber them consecutively.
    for (const entry of latest) {
      if (entry.kind === 'kept') this.keptSince(entry, entry.since ?? entry.time);
      this.put({ ...entry, sequence: this.written });
    }
  }

  private put(entry: LedgerEntry): void {
    this.ring[this.written % this.limit] = entry;
    this.written += 1;
  }

  /** Since when a cause of this kind has kept the node. */
  private keptSince({ nodeClaim = '', cause }: KeptRecord, time: number): number {
    const known = this.kept.get(nodeClaim);
    const since = known?.cause === cause.kind ? known.since : time;
    // Move to the end, so that the first entry is the one to remove.
    this.kept.delete(nodeClaim);
    this.kept.set(nodeClaim, { cause: cause.kind, since });
    const [oldest] = this.kept.keys();
    if (this.kept.size > MOST_KEPT && oldest !== undefined) this.kept.delete(oldest);
    return since;
  }

  /** Calls back for every new entry; the result unsubscribes. */
  subscribe(listener: (entry: LedgerEntry) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private get held(): number {
    return Math.min(this.limit, this.written - this.first);
  }

  /** Oldest first. Entries before sequence number `since` are left out. */
  entries(since = 0): LedgerEntry[] {
    const first = Math.max(since, this.written - this.held);
    return Array.from(
      { length: Math.max(0, this.written - first) },
      (_, at) => this.ring[(first + at) % this.limit],
    ).filter((entry) => entry !== undefined);
  }

  /** Decisions about a pod, newest first, if the entries name it. */
  aboutPod(key: string): LedgerEntry[] {
    return this.entries()
      .filter((entry) => 'pods' in entry && typeof entry.pods === 'object' && entry.pods.names.includes(key))
      .reverse();
  }

  toJSON(): LedgerDump {
    return { schemaVersion: SCHEMA_VERSION, dropped: this.written - this.held, entries: this.entries() };
  }
}
