/** Possible savings, what blocks them, and which nodes are kept. */
import { blockerText } from '../../ledger/blockerText.ts';
import type { KeptRecord, SavingsRecord } from '../../ledger/disruptionRecord.ts';
import { keptText } from '../../ledger/keptText.ts';
import type { Ledger, LedgerEntry } from '../../ledger/ledger.ts';
import type { Frame } from '../feed.ts';
import type { SavingsScreen } from '../screens.ts';
import { savingsIn } from './totals.ts';

const MOST_KEPT = 500;

export function savingsScreen({ time, rows }: Frame, ledger: Ledger): SavingsScreen {
  let latest: (SavingsRecord & LedgerEntry) | undefined;
  const kept = new Map<string, KeptRecord & LedgerEntry>();
  for (const entry of ledger.entries()) {
    if (entry.kind === 'savings') latest = entry;
    else if (entry.kind === 'kept') kept.set(entry.node ?? entry.nodeClaim ?? '', entry);
  }
  const priced = new Map(rows.map((row) => [row.name, row]));
  return {
    time,
    ...(latest && { asOf: latest.time }),
    pricePerHour: latest?.pricePerHour ?? rows.reduce((sum, { price }) => sum + price, 0),
    leastPricePerHour: latest?.leastPricePerHour ?? 0,
    savingsPerHour: latest?.savingsPerHour ?? 0,
    savedPerHour: savingsIn(ledger).savedPerHour,
    blockers: (latest?.pools ?? [])
      .flatMap(({ pool, blockers }) => blockers.map((blocker) => ({ pool, ...blocker })))
      .map((blocker) => ({ ...blocker, meaning: blockerText(blocker.cause) }))
      .sort((left, right) => right.savingsPerHour - left.savingsPerHour),
    kept: [...kept]
      .flatMap(([node, record]) => {
        const row = priced.get(node);
        if (row === undefined) return [];
        const since = record.since ?? record.time;
        return [{ node, pool: row.nodePool, price: row.price, sentence: keptText(record), since }];
      })
      .sort((left, right) => right.price - left.price)
      .slice(0, MOST_KEPT),
  };
}
