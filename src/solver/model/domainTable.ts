/** The domains of one topology key: every value that nodes or offerings have, and the domain of each node. */
import { intAt, itemAt } from '../rows.ts';
import type { ExistingNodes } from './existingNodes.ts';
import { isHostname } from './topologyCounter.ts';

/** For a node without the label, and for every node when the key is the hostname (each node is its own domain then). */
export const NO_DOMAIN = -1;

export class DomainTable {
  readonly key: string;
  /** Sorted; a domain's number is its index here. */
  readonly values: readonly string[];
  readonly idOf: ReadonlyMap<string, number>;
  /** By row of a node. */
  domainOf: Int32Array;
  /** By domain: number of nodes in it. */
  readonly nodesIn: number[];
  private readonly existing: ExistingNodes;
  private readonly isOffered: readonly boolean[];
  private version: number;

  private constructor(key: string, existing: ExistingNodes, values: readonly string[], isOffered: readonly boolean[]) {
    this.key = key;
    this.existing = existing;
    this.version = existing.changes.version;
    this.values = values;
    this.isOffered = isOffered;
    this.idOf = new Map(values.map((value, id) => [value, id]));
    this.nodesIn = values.map(() => 0);
    this.domainOf = new Int32Array(existing.closed.length).fill(NO_DOMAIN);
  }

  /** `offered`: the values that new nodes can have. */
  static of(key: string, existing: ExistingNodes, offered: ReadonlySet<string>): DomainTable {
    const values = new Set(isHostname(key) ? [] : offered);
    const own: (string | undefined)[] = [];
    for (let row = 0; row < existing.rows && !isHostname(key); row++) {
      const value = existing.label(row, key);
      own.push(value);
      if (value !== undefined) values.add(value);
    }
    const sorted = [...values].sort();
    const isOffered = sorted.map((value) => offered.has(value));
    const table = new DomainTable(key, existing, sorted, isOffered);
    own.forEach((value, row) => table.move(row, value));
    return table;
  }

  /** Applies node changes. False when a value appeared or disappeared, so that domains must be renumbered. */
  catchUp(): boolean {
    const { existing, version } = this;
    if (version === existing.changes.version) return true;
    const changed = existing.changes.since(version);
    if (changed === undefined) return false;
    if (this.domainOf.length < existing.rows) {
      const grown = new Int32Array(existing.closed.length).fill(NO_DOMAIN);
      grown.set(this.domainOf);
      this.domainOf = grown;
    }
    this.version = existing.changes.version;
    if (isHostname(this.key)) return true;
    for (const row of changed) {
      const value = existing.label(row, this.key);
      if (value !== undefined && !this.idOf.has(value)) return false;
      this.move(row, value);
    }
    return this.nodesIn.every((nodes, domain) => nodes > 0 || itemAt(this.isOffered, domain));
  }

  private move(row: number, value: string | undefined): void {
    const before = intAt(this.domainOf, row);
    const now = value === undefined ? NO_DOMAIN : (this.idOf.get(value) ?? NO_DOMAIN);
    if (before >= 0) this.nodesIn[before] = itemAt(this.nodesIn, before) - 1;
    if (now >= 0) this.nodesIn[now] = itemAt(this.nodesIn, now) + 1;
    this.domainOf[row] = now;
  }
}
