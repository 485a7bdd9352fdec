/**
 * What waits to be packed, most valuable first. In: atoms in order; out: a list to walk over that knows from every
 * place on how little the smallest of the rest asks for, so that a full machine is not offered to all of them.
 */
import * as columnsOf from '../model/resourceTable.ts';
import type { Demand } from './demand.ts';

/** Read once, as in the filler. */
const { CPU, MEMORY } = columnsOf;

export class Queue {
  readonly atoms: Int32Array;
  readonly leastCpu: Float64Array;
  readonly leastMemory: Float64Array;
  /** Who stands before this place has gone. */
  start = 0;

  constructor(atoms: Int32Array, { rows, columns }: Demand) {
    this.atoms = atoms;
    this.leastCpu = new Float64Array(atoms.length);
    this.leastMemory = new Float64Array(atoms.length);
    let cpu = Number.POSITIVE_INFINITY;
    let memory = Number.POSITIVE_INFINITY;
    for (let at = atoms.length - 1; at >= 0; at--) {
      const row = atoms[at]! * columns;
      if (rows[row + CPU]! < cpu) cpu = rows[row + CPU]!;
      if (rows[row + MEMORY]! < memory) memory = rows[row + MEMORY]!;
      this.leastCpu[at] = cpu;
      this.leastMemory[at] = memory;
    }
  }
}
