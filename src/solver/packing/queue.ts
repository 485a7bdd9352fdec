/**
 * Items in packing order, most valuable first. Keeps the smallest requests from every index on, and per stretch, so
 * that a nearly full node is not compared with all items.
 */
import * as columnsOf from '../model/resourceTable.ts';
import { floatAt, intAt } from '../rows.ts';
import type { Demand } from './demand.ts';

/** Copied to locals, because reading an imported binding is slow. */
const { CPU, MEMORY } = columnsOf;
/** Items per stretch: a power of two. */
const STRETCH = 16;
/** Numbers per index: cpu and memory of its item, and the least of each from there on. */
const WIDTH = 4;

export interface Queue {
  readonly items: Int32Array;
  /** Items before this index are used up. */
  start: number;
  /** `WIDTH` numbers per index. */
  readonly asked: Float64Array;
  /** By stretch: the least cpu and the least memory that any of its items requests. */
  readonly stretches: Float64Array;
}

/** A node's remaining room and its shape. */
export interface Opening {
  cpu: number;
  memory: number;
  /** Searches for items that request more cpu than memory, relative to the node; or for the others. */
  forCpu: boolean;
  /** Cpu of the empty node. */
  cpuRoom: number;
  memoryRoom: number;
}

export function queueOf(items: Int32Array, { rows }: Demand): Queue {
  const { length } = items;
  const asked = new Float64Array(length * WIDTH);
  const stretches = new Float64Array(2 * Math.ceil(length / STRETCH)).fill(Number.POSITIVE_INFINITY);
  let leastCpu = Number.POSITIVE_INFINITY;
  let leastMemory = Number.POSITIVE_INFINITY;
  for (let at = length - 1; at >= 0; at--) {
    const item = intAt(items, at);
    const cpu = rows.get(item, CPU);
    const memory = rows.get(item, MEMORY);
    if (cpu < leastCpu) leastCpu = cpu;
    if (memory < leastMemory) leastMemory = memory;
    const cell = at * WIDTH;
    asked[cell] = cpu;
    asked[cell + 1] = memory;
    asked[cell + 2] = leastCpu;
    asked[cell + 3] = leastMemory;
    const stretch = 2 * Math.floor(at / STRETCH);
    if (cpu < floatAt(stretches, stretch)) stretches[stretch] = cpu;
    if (memory < floatAt(stretches, stretch + 1)) stretches[stretch + 1] = memory;
  }
  return { items, start: 0, asked, stretches };
}

/**
 * The first index from `from` on whose item has pods left that fit the opening; the end of the queue if there is none.
 * This is the innermost loop of packing, so it reads the lists itself: until V8 has optimized it, a call costs more
 * than the rest of the loop.
 */
export function nextFitting(
  { items, asked, stretches }: Queue,
  from: number,
  { cpu, memory, forCpu, cpuRoom, memoryRoom }: Opening,
  left: Int32Array,
  taken: Int32Array,
): number {
  const { length } = items;
  for (let at = from; at < length; at++) {
    const cell = at * WIDTH;
    if ((asked[cell + 2] as number) > cpu || (asked[cell + 3] as number) > memory) return length;
    if ((at & (STRETCH - 1)) === 0) {
      const stretch = (2 * at) / STRETCH;
      if ((stretches[stretch] as number) > cpu || (stretches[stretch + 1] as number) > memory) {
        at += STRETCH - 1;
        continue;
      }
    }
    const ownCpu = asked[cell] as number;
    const ownMemory = asked[cell + 1] as number;
    if (ownCpu > cpu || ownMemory > memory || ownCpu * memoryRoom >= ownMemory * cpuRoom !== forCpu) continue;
    const item = items[at] as number;
    if ((left[item] as number) > (taken[item] as number)) return at;
  }
  return length;
}
