/** Running pods indexed by the labels that selectors use. Updated as nodes and pods change. */
import type { Pod } from '../../api/kinds.ts';
import { labelOf } from '../../pods/labelSelector.ts';
import { itemAt } from '../rows.ts';
import type { ExistingNodes } from './existingNodes.ts';

/** Indexed label names. */
const MAX_NAMES = 64;
const NONE: PodsByNode = new Map();

/** By row of a node: its pods with the label. */
type PodsByNode = ReadonlyMap<number, readonly Pod[]>;

interface Index {
  readonly podsOf: Map<string, Map<number, readonly Pod[]>>;
  /** By row: the label values of its pods. */
  readonly valuesOn: Map<number, readonly string[]>;
  version: number;
}

export class PodLabels {
  private readonly existing: ExistingNodes;
  private readonly indexes = new Map<string, Index>();

  constructor(existing: ExistingNodes) {
    this.existing = existing;
  }

  podsWith(name: string, value: string): PodsByNode {
    return this.index(name).podsOf.get(value) ?? NONE;
  }

  private index(name: string): Index {
    const { changes, rows } = this.existing;
    const known = this.indexes.get(name);
    if (known?.version === changes.version) return known;
    const changed = known && changes.since(known.version);
    if (known !== undefined && changed !== undefined) {
      for (const row of changed) this.reread(known, row, name);
      known.version = changes.version;
      return known;
    }
    if (known === undefined && this.indexes.size >= MAX_NAMES) this.indexes.clear();
    const made: Index = { podsOf: new Map(), valuesOn: new Map(), version: changes.version };
    for (let row = 0; row < rows; row++) this.reread(made, row, name);
    this.indexes.set(name, made);
    return made;
  }

  private reread({ podsOf, valuesOn }: Index, row: number, name: string): void {
    for (const value of valuesOn.get(row) ?? []) {
      const rows = podsOf.get(value);
      rows?.delete(row);
      if (rows?.size === 0) podsOf.delete(value);
    }
    const found = new Map<string, Pod[]>();
    for (const pod of itemAt(this.existing.nodes, row).pods) {
      const value = labelOf(pod.metadata.labels, name);
      if (value === undefined) continue;
      const others = found.get(value);
      if (others === undefined) found.set(value, [pod]);
      else others.push(pod);
    }
    for (const [value, pods] of found) {
      const rows = podsOf.get(value);
      if (rows === undefined) podsOf.set(value, new Map([[row, pods]]));
      else rows.set(row, pods);
    }
    if (found.size === 0) valuesOn.delete(row);
    else valuesOn.set(row, [...found.keys()]);
  }
}
