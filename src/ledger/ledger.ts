import type { KeptRecord } from './disruptionRecord.ts';
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
/** Nodes of which it is remembered since when they are kept. */
const MOST_KEPT = 10_000;

/**
 * The latest decisions in memory, a bounded ring: the newest entry takes the place of the oldest. Loops write to it;
 * events, logs, the live picture and `explain` read from it.
 */
export class Ledger {
  private readonly now: () => number;
  private readonly limit: number;
  private readonly ring: LedgerEntry[] = [];
  private written = 0;
  /** The number of the first entry that was ever here. */
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

  /** Takes over what an earlier process wrote, oldest first; for a ledger that is still empty. */
  restore(entries: readonly LedgerEntry[]): void {
    const latest = entries.slice(-this.limit);
    this.first = this.written = latest[0]?.sequence ?? 0;
    // Numbers may have gaps, where lines were lost; here they follow one another.
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
    // The one that was told last comes last, so that the first is the one to forget.
    this.kept.delete(nodeClaim);
    this.kept.set(nodeClaim, { cause: cause.kind, since });
    const [oldest] = this.kept.keys();
    if (this.kept.size > MOST_KEPT && oldest !== undefined) this.kept.delete(oldest);
    return since;
  }

  /** Calls back for every entry from now on; the result ends it. */
  subscribe(listener: (entry: LedgerEntry) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private get held(): number {
    return Math.min(this.limit, this.written - this.first);
  }

  /** Oldest first. `since` leaves out entries before that sequence number. */
  entries(since = 0): LedgerEntry[] {
    const first = Math.max(since, this.written - this.held);
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
    return { schemaVersion: SCHEMA_VERSION, dropped: this.written - this.held, entries: this.entries() };
  }
}
