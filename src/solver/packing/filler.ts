/**
 * Fills one node so that its resources run out together: takes the next pod from those that want more cpu than the
 * node's shape, or from the others, whichever brings the remaining room back into shape. Then buys the cheapest type
 * that holds the result.
 */
import { NO_STATE } from '../model/stateTable.ts';
import * as columnsOf from '../model/resourceTable.ts';
import { floatAt, intAt, type Rows } from '../rows.ts';
import type { Bin } from './bin.ts';
import type { Demand } from './demand.ts';
import { HostTally } from './hostTally.ts';
import { nextFitting, type Opening, type Queue } from './queue.ts';

/** Copied to locals, because reading an imported binding in the innermost loop is slow. */
const { CPU, MEMORY, PODS } = columnsOf;

export class Filler {
  private readonly demand: Demand;
  private readonly tally: HostTally;
  private readonly free: Float64Array;
  private readonly taken: Int32Array;
  private readonly opening: Opening = { cpu: 0, memory: 0, forCpu: true, cpuRoom: 0, memoryRoom: 0 };
  /**
   * Distinct items on the node, in order of arrival. A fixed buffer, because an emptied list would be allocated again.
   */
  private readonly picks: Int32Array;
  private picked = 0;
  /**
   * By state: the narrowing of the node at which it was last compared with the node's state, and whether they share the
   * type.
   */
  private readonly comparedAt: number[] = [];
  private readonly isCompatible: boolean[] = [];
  private narrowing = 0;
  private state = NO_STATE;
  private type = -1;
  /** Results of the last filling: its value at dual prices, its purchase price, and its load. */
  value = 0;
  price = 0;
  readonly used: Float64Array;

  constructor(demand: Demand) {
    this.demand = demand;
    this.tally = new HostTally(demand.items, demand.host);
    this.free = new Float64Array(demand.rows.width);
    this.taken = new Int32Array(demand.items.length);
    this.picks = new Int32Array(demand.items.length);
    this.used = new Float64Array(demand.rows.width);
  }

  /**
   * Fills a node of the type, starting with `seed`. `left`: waiting pods of each item; `start`: initial state of the
   * node. Returns whether the seed fits on the type; then `value`, `price` and `used` describe the filling, and `bin`
   * returns it.
   */
  fill(
    type: number,
    seed: number,
    queue: Queue,
    left: Int32Array,
    value: Float64Array,
    limitLeft: Float64Array | undefined,
    start = intAt(this.demand.stateOf, seed),
  ): boolean {
    const { demand, free, taken, used } = this;
    const { states, choice } = demand;
    const { room } = choice;
    this.reset();
    room.copyTo(free, type);
    free[PODS] = Math.min(floatAt(free, PODS), demand.options.maxPodsPerNode);
    used.set(free);
    this.state = start;
    if (states.at(start).price[type] === Number.POSITIVE_INFINITY) return false;
    if (!this.hasRoom(seed, 0) || this.tally.allowed(seed) < 1) return false;
    this.narrowing += 1;
    this.take(seed, value);
    const { opening } = this;
    opening.cpuRoom = room.get(type, CPU);
    opening.memoryRoom = room.get(type, MEMORY);
    const { items } = queue;
    const end = items.length;
    // Two cursors over one list: pods that want more cpu than the node's shape, and the others.
    let nextCpu = queue.start;
    let nextMemory = queue.start;
    while (floatAt(free, PODS) >= 1 && (nextCpu < end || nextMemory < end)) {
      opening.cpu = floatAt(free, CPU);
      opening.memory = floatAt(free, MEMORY);
      const wantsCpu = opening.cpu * opening.memoryRoom >= opening.memory * opening.cpuRoom;
      opening.forCpu = (wantsCpu && nextCpu < end) || nextMemory >= end;
      let at = nextFitting(queue, opening.forCpu ? nextCpu : nextMemory, opening, left, taken);
      while (at < end && !this.admits(intAt(items, at), type)) at = nextFitting(queue, at + 1, opening, left, taken);
      if (at < end) this.take(intAt(items, at), value);
      if (opening.forCpu) nextCpu = at;
      else nextMemory = at;
    }
    // Room at the start minus room now: both are whole numbers, so the difference is the exact sum of the pods.
    for (let column = 0; column < used.length; column++) used[column] = floatAt(used, column) - floatAt(free, column);
    this.type = choice.cheapestHolding(this.state, used, this.tally.ports, limitLeft);
    if (this.type < 0) return false;
    this.price = floatAt(states.at(this.state).price, this.type);
    return true;
  }

  private reset(): void {
    for (let at = 0; at < this.picked; at++) this.taken[intAt(this.picks, at)] = 0;
    this.picked = 0;
    this.value = 0;
    this.tally.clear();
  }

  private hasRoom(item: number, from: number): boolean {
    const rows: Rows = this.demand.rows;
    for (let column = from; column < rows.width; column++) {
      const asked = rows.get(item, column);
      if (asked > 0 && asked > floatAt(this.free, column)) return false;
    }
    return true;
  }

  /** Whether the item may be added, given that cpu, memory and the number of pods suffice. Does not narrow the node. */
  private admits(item: number, type: number): boolean {
    const { states, stateOf, host, rows } = this.demand;
    const own = intAt(stateOf, item);
    if (own !== this.state) {
      if (this.comparedAt[own] !== this.narrowing) {
        const met = states.meet(this.state, own);
        this.isCompatible[own] = met >= 0 && states.at(met).price[type] !== Number.POSITIVE_INFINITY;
        this.comparedAt[own] = this.narrowing;
      }
      if (this.isCompatible[own] !== true) return false;
    }
    if (rows.width > PODS + 1 && !this.hasRoom(item, PODS + 1)) return false;
    return host.plain[item] === 1 || this.tally.allowed(item) >= 1;
  }

  private take(item: number, value: Float64Array): void {
    const { rows, states, stateOf } = this.demand;
    const before = intAt(this.taken, item);
    if (before === 0) this.picks[this.picked++] = item;
    this.taken[item] = before + 1;
    const own = intAt(stateOf, item);
    if (own !== this.state) {
      const met = states.meet(this.state, own);
      if (met !== this.state) {
        this.state = met;
        this.narrowing += 1;
      }
    }
    this.tally.add(item, 1);
    this.value += floatAt(value, item);
    rows.addTo(this.free, item, -1);
  }

  /** The last filling as a bin. */
  bin(limitLeft: Float64Array | undefined): Bin {
    const { demand, picks, picked, taken, state, type, price } = this;
    const used = this.used.slice();
    const items: number[] = [];
    const counts: number[] = [];
    for (let at = 0; at < picked; at++) {
      const item = intAt(picks, at);
      items.push(item);
      counts.push(intAt(taken, item));
    }
    const limitNeed = demand.choice.limitNeed(state, type, used, this.tally.ports, limitLeft);
    return { state, type, price, items, counts, used, limitNeed, reservation: -1 };
  }
}
