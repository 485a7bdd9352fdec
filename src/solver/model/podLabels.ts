/** Nodes by the labels of their pods, for the label names that selectors ask about. Kept as nodes and pods change. */
import { itemAt } from '../rows.ts';
import type { ExistingNodes } from './existingNodes.ts';

/** Label names with an index. */
const MAX_NAMES = 64;
const NONE: ReadonlySet<number> = new Set();

interface Index {
  readonly rowsOf: Map<string, Set<number>>;
  /** By row: the values that its pods have. */
  readonly valuesOn: Map<number, ReadonlySet<string>>;
  version: number;
}

export class PodLabels {
  private readonly existing: ExistingNodes;
  private readonly indexes = new Map<string, Index>();

  constructor(existing: ExistingNodes) {
    this.existing = existing;
  }

  /** Rows of nodes with a pod that has the label. */
  nodesWith(name: string, value: string): ReadonlySet<number> {
    return this.index(name).rowsOf.get(value) ?? NONE;
  }

  private index(name: string): Index {
    const { changes, rows } = this.existing;
    const known = this.indexes.get(name);
    const changed = known && changes.since(known.version);
    if (known !== undefined && changed !== undefined) {
      for (const row of changed) this.reread(known, row, name);
      known.version = changes.version;
      return known;
    }
    if (known === undefined && this.indexes.size >= MAX_NAMES) this.indexes.clear();
    const made: Index = { rowsOf: new Map(), valuesOn: new Map(), version: changes.version };
    for (let row = 0; row < rows; row++) this.reread(made, row, name);
    this.indexes.set(name, made);
    return made;
  }

  private reread({ rowsOf, valuesOn }: Index, row: number, name: string): void {
    const values = new Set<string>();
    for (const { metadata } of itemAt(this.existing.nodes, row).pods) {
      const value = metadata.labels?.[name];
      if (value !== undefined) values.add(value);
    }
    for (const value of valuesOn.get(row) ?? []) {
      if (values.has(value)) continue;
      const rows = rowsOf.get(value);
      rows?.delete(row);
      if (rows?.size === 0) rowsOf.delete(value);
    }
    for (const value of values) {
      const rows = rowsOf.get(value);
      if (rows === undefined) rowsOf.set(value, new Set([row]));
      else rows.add(row);
    }
    if (values.size === 0) valuesOn.delete(row);
    else valuesOn.set(row, values);
  }
}
