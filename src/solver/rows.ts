/**
 * Numbers in rows and lists, read by index without `undefined`. The index must be in range, which the callers' loops
 * ensure. There is one function per list type, and loops over a row are here: V8 turns a function that sees only one
 * list type into a direct load, and one that sees several into a slow lookup.
 */

export function floatAt(list: Float64Array, index: number): number {
  return list[index] as number;
}

export function intAt(list: Int32Array, index: number): number {
  return list[index] as number;
}

export function itemAt<Item>(list: readonly Item[], index: number): Item {
  return list[index] as Item;
}

/** A matrix: a row per instance type, node or pod, a column per resource. */
export class Rows {
  readonly width: number;
  readonly cells: Float64Array;

  constructor(width: number, cells: Float64Array) {
    this.width = width;
    this.cells = cells;
  }

  static empty(count: number, width: number): Rows {
    return new Rows(width, new Float64Array(count * width));
  }

  get(row: number, column: number): number {
    return this.cells[row * this.width + column] as number;
  }

  /** A view: writes to it change the matrix. */
  row(row: number): Float64Array {
    return this.cells.subarray(row * this.width, (row + 1) * this.width);
  }

  copy(row: number): Float64Array {
    return this.cells.slice(row * this.width, (row + 1) * this.width);
  }

  /** Whether the row is at least the load in every column. */
  holds(row: number, load: Float64Array): boolean {
    const { width, cells } = this;
    const start = row * width;
    for (let column = 0; column < width; column++) {
      if ((load[column] as number) > (cells[start + column] as number)) return false;
    }
    return true;
  }

  /** Copies the row to `target`. */
  copyTo(target: Float64Array, row: number): void {
    const { width, cells } = this;
    const start = row * width;
    for (let column = 0; column < width; column++) target[column] = cells[start + column] as number;
  }

  /** Adds the row to `target`, `times` times. */
  addTo(target: Float64Array, row: number, times: number): void {
    const { width, cells } = this;
    const start = row * width;
    for (let column = 0; column < width; column++) {
      target[column] = (target[column] as number) + times * (cells[start + column] as number);
    }
  }

  /** Inner product of the row and one price per column. */
  valueOf(row: number, prices: Float64Array): number {
    const { width, cells } = this;
    const start = row * width;
    let value = 0;
    for (let column = 0; column < width; column++) {
      value += (prices[column] as number) * (cells[start + column] as number);
    }
    return value;
  }

  /** The load's largest share of the row over all columns. */
  largestShare(row: number, load: Float64Array): number {
    const { width, cells } = this;
    const start = row * width;
    let share = 0;
    for (let column = 0; column < width; column++) {
      const asked = load[column] as number;
      if (asked > 0) share = Math.max(share, asked / (cells[start + column] as number));
    }
    return share;
  }

  /** How many times the row holds the load, up to `most`. */
  timesHeld(row: number, load: Float64Array, most: number): number {
    const { width, cells } = this;
    const start = row * width;
    let times = most;
    for (let column = 0; column < width; column++) {
      const asked = load[column] as number;
      if (asked > 0) times = Math.min(times, Math.floor((cells[start + column] as number) / asked));
    }
    return times;
  }
}

/** Adds `row` to `target`, `times` times. */
export function addRow(target: Float64Array, row: Float64Array, times: number): void {
  for (let column = 0; column < row.length; column++) {
    target[column] = (target[column] as number) + times * (row[column] as number);
  }
}

/** Whether `room` has at least as much as `load` in every column. */
export function isWithin(load: Float64Array, room: Float64Array): boolean {
  for (let column = 0; column < room.length; column++) {
    if ((load[column] as number) > (room[column] as number)) return false;
  }
  return true;
}
