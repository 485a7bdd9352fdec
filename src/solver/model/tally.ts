/** Initial values of a counter: pods on existing nodes, by node and by domain. Updated as nodes and pods change. */
import { intAt } from '../rows.ts';
import type { DomainTable } from './domainTable.ts';
import type { ExistingNodes } from './existingNodes.ts';
import { isHostname, type CounterSpec } from './topologyCounter.ts';

/** A node's count and domain are packed into one number, because an object for each would use most of the memory. */
const DOMAINS = 2 ** 24;

export class Tally {
  readonly spec: CounterSpec;
  readonly table: DomainTable;
  readonly byDomain: number[] = [];
  total = 0;
  /** By row: the count times `DOMAINS`, and the domain plus one. */
  private readonly byNode = new Map<number, number>();
  private readonly existing: ExistingNodes;
  private readonly countOn: (row: number) => number;
  private version: number;

  private constructor(
    spec: CounterSpec,
    table: DomainTable,
    existing: ExistingNodes,
    countOn: (row: number) => number,
  ) {
    this.spec = spec;
    this.table = table;
    this.existing = existing;
    this.countOn = countOn;
    this.version = existing.changes.version;
  }

  /** `countOn`: how many pods of a node count; `counts`: the same for each node that may have some, by row. */
  static of(
    spec: CounterSpec,
    table: DomainTable,
    existing: ExistingNodes,
    counts: Iterable<readonly [row: number, count: number]>,
    countOn: (row: number) => number,
  ): Tally {
    const tally = new Tally(spec, table, existing, countOn);
    for (const [row, count] of counts) if (count > 0) tally.set(row, count);
    return tally;
  }

  on(row: number): number {
    return Math.floor((this.byNode.get(row) ?? 0) / DOMAINS);
  }

  /** False when it must be rebuilt. Call after updating the domain table. */
  catchUp(): boolean {
    const { changes } = this.existing;
    if (this.version === changes.version) return true;
    const changed = changes.since(this.version);
    if (changed === undefined) return false;
    for (const row of changed) this.recount(row);
    this.version = changes.version;
    return true;
  }

  private recount(row: number): void {
    const before = this.byNode.get(row);
    if (before !== undefined) this.add(before, -1);
    const count = this.countOn(row);
    if (count === 0) {
      if (before !== undefined) this.byNode.delete(row);
      return;
    }
    this.set(row, count);
  }

  private set(row: number, count: number): void {
    const now = count * DOMAINS + intAt(this.table.domainOf, row) + 1;
    this.byNode.set(row, now);
    this.add(now, 1);
  }

  private add(counted: number, sign: number): void {
    const domain = (counted % DOMAINS) - 1;
    const count = sign * Math.floor(counted / DOMAINS);
    if (domain >= 0) this.byDomain[domain] = (this.byDomain[domain] ?? 0) + count;
    if (domain >= 0 || isHostname(this.spec.topologyKey)) this.total += count;
  }
}
