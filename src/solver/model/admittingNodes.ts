/**
 * Nodes that admit pods with given requirements and tolerations, in node order. Each list also keeps, per stretch of
 * nodes, the largest free amount of each resource, so that a search can skip full stretches. Updated as nodes change.
 */
import { floatAt, intAt } from '../rows.ts';
import type { ChangeLog } from './changeLog.ts';

/** Cached lists. */
const MAX_LISTS = 256;
/** Nodes per stretch. */
export const STRETCH = 64;

/** Nodes as rows; see `ExistingNodes`. */
interface NodeRows {
  readonly changes: ChangeLog;
  readonly rows: number;
  readonly columns: number;
  readonly free: Float64Array;
  readonly closed: Uint8Array;
  readonly order: Int32Array;
  readonly rank: Int32Array;
}

export interface Admission {
  /** Rows of nodes. */
  readonly nodes: Int32Array;
  /** Row per stretch: the largest free amount of each resource on any of its nodes. */
  readonly most: Float64Array;
}

interface Kept extends Admission {
  nodes: Int32Array;
  most: Float64Array;
  version: number;
  order: Int32Array;
  /** By row. */
  admitted: Uint8Array;
}

export class AdmittingNodes {
  private readonly existing: NodeRows;
  private readonly lists = new Map<string, Kept>();

  constructor(existing: NodeRows) {
    this.existing = existing;
  }

  clear(): void {
    this.lists.clear();
  }

  of(key: string, admits: (row: number) => boolean): Admission {
    const known = this.lists.get(key);
    if (known !== undefined) {
      this.catchUp(known, admits);
      return known;
    }
    if (this.lists.size >= MAX_LISTS) {
      const [oldest = ''] = this.lists.keys();
      this.lists.delete(oldest);
    }
    const { order } = this.existing;
    const none = { nodes: new Int32Array(0), most: new Float64Array(0), admitted: new Uint8Array(0) };
    const made: Kept = { ...none, version: -1, order };
    this.catchUp(made, admits);
    this.lists.set(key, made);
    return made;
  }

  private catchUp(list: Kept, admits: (row: number) => boolean): void {
    const { changes, order, closed, rows } = this.existing;
    if (list.version === changes.version) return;
    const changed = changes.since(list.version);
    const isAdmitted = (row: number): number => (closed[row] === 0 && admits(row) ? 1 : 0);
    let isSameList = changed !== undefined && list.order === order;
    if (changed === undefined || list.admitted.length < rows) {
      list.admitted = new Uint8Array(closed.length);
      for (const row of order) list.admitted[row] = isAdmitted(row);
      isSameList = false;
    } else {
      for (const row of changed) {
        const now = isAdmitted(row);
        if (list.admitted[row] !== now) isSameList = false;
        list.admitted[row] = now;
      }
    }
    list.version = changes.version;
    list.order = order;
    if (isSameList && changed !== undefined) {
      for (const row of changed)
        if (list.admitted[row] === 1) this.measure(list, this.placeOf(list.nodes, row) / STRETCH);
      return;
    }
    list.nodes = order.filter((row) => list.admitted[row] === 1);
    const stretches = Math.ceil(list.nodes.length / STRETCH);
    list.most = new Float64Array(stretches * this.existing.columns);
    for (let stretch = 0; stretch < stretches; stretch++) this.measure(list, stretch);
  }

  private measure({ nodes, most }: Kept, place: number): void {
    const { free, columns } = this.existing;
    const stretch = Math.floor(place);
    const end = Math.min(nodes.length, (stretch + 1) * STRETCH);
    for (let column = 0; column < columns; column++) {
      let greatest = Number.NEGATIVE_INFINITY;
      for (let at = stretch * STRETCH; at < end; at++) {
        greatest = Math.max(greatest, floatAt(free, intAt(nodes, at) * columns + column));
      }
      most[stretch * columns + column] = greatest;
    }
  }

  /** Finds the row by its rank. */
  private placeOf(nodes: Int32Array, row: number): number {
    const { rank } = this.existing;
    const wanted = intAt(rank, row);
    let low = 0;
    let high = nodes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (intAt(rank, intAt(nodes, middle)) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
