/**
 * Items in packing order, most valuable first. From every place on it knows how little the smallest of the rest asks
 * for, so that a full node is not offered to all of them.
 */
import { CPU, MEMORY } from '../model/resourceTable.ts';
import { intAt } from '../rows.ts';
import type { Demand } from './demand.ts';

export interface Queue {
  readonly items: Int32Array;
  /** By place: the least that any item from there on asks for. */
  readonly leastCpu: Float64Array;
  readonly leastMemory: Float64Array;
  /** Items before this place are used up. */
  start: number;
}

export function queueOf(items: Int32Array, { rows }: Demand): Queue {
  const leastCpu = new Float64Array(items.length);
  const leastMemory = new Float64Array(items.length);
  let cpu = Number.POSITIVE_INFINITY;
  let memory = Number.POSITIVE_INFINITY;
  for (let at = items.length - 1; at >= 0; at--) {
    const item = intAt(items, at);
    cpu = Math.min(cpu, rows.get(item, CPU));
    memory = Math.min(memory, rows.get(item, MEMORY));
    leastCpu[at] = cpu;
    leastMemory[at] = memory;
  }
  return { items, leastCpu, leastMemory, start: 0 };
}
