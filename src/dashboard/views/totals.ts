import { HOURS_PER_MONTH } from '../../rehearsal/nodeFactsOf.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { NodeRow, PoolRow, Totals } from '../screens.ts';

export function totalsOf(rows: readonly NodeRow[], pending: number, ledger: Ledger): Totals {
  const sum = (of: (row: NodeRow) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const pricePerHour = sum(({ price }) => price);
  const cores = sum((row) => row.cores);
  const gib = sum((row) => row.gib);
  return {
    nodes: rows.length,
    readyNodes: rows.filter(({ status }) => status === 'Ready').length,
    pods: sum(({ pods }) => pods),
    pending,
    pricePerHour,
    pricePerMonth: pricePerHour * HOURS_PER_MONTH,
    spotShare:
      pricePerHour === 0 ? 0 : sum(({ capacityType, price }) => (capacityType === 'spot' ? price : 0)) / pricePerHour,
    cpu: cores === 0 ? 0 : sum((row) => row.cpu * row.cores) / cores,
    memory: gib === 0 ? 0 : sum((row) => row.memory * row.gib) / gib,
    ...savingsIn(ledger),
  };
}

/** Savings of executed commands, and the result of the last complete pass. */
export function savingsIn(ledger: Ledger): Pick<Totals, 'savedPerHour' | 'heldPerHour'> {
  const begun = new Map<string, number>();
  let [savedPerHour, heldPerHour] = [0, 0];
  for (const entry of ledger.entries()) {
    if (entry.kind === 'disruption') begun.set(entry.command, entry.savingsPerHour);
    else if (entry.kind === 'disruption-end' && entry.outcome === 'done') savedPerHour += begun.get(entry.command) ?? 0;
    else if (entry.kind === 'savings') heldPerHour = entry.savingsPerHour;
  }
  return { savedPerHour, heldPerHour };
}

/** Most expensive first. Nodes without a pool are grouped without a name. */
export function poolRowsOf(rows: readonly NodeRow[]): readonly PoolRow[] {
  const pools = new Map<string, NodeRow[]>();
  for (const row of rows) {
    const known = pools.get(row.nodePool);
    if (known === undefined) pools.set(row.nodePool, [row]);
    else known.push(row);
  }
  return [...pools]
    .map(([name, own]): PoolRow => {
      const sum = (of: (row: NodeRow) => number): number => own.reduce((total, row) => total + of(row), 0);
      const cores = sum((row) => row.cores);
      const gib = sum((row) => row.gib);
      return {
        name,
        nodes: own.length,
        pods: sum(({ pods }) => pods),
        pricePerHour: sum(({ price }) => price),
        cpu: cores === 0 ? 0 : sum((row) => row.cpu * row.cores) / cores,
        memory: gib === 0 ? 0 : sum((row) => row.memory * row.gib) / gib,
      };
    })
    .sort((left, right) => right.pricePerHour - left.pricePerHour || (left.name < right.name ? -1 : 1));
}
