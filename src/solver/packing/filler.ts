/**
 * Fills one machine so that its resources run out together. In: what is left to place, a type, and the pod it is
 * opened for; out: what it takes, and the cheapest type that holds just that.
 */
import { NO_STATE } from '../model/stateTable.ts';
import * as columnsOf from '../model/resourceTable.ts';
import { HostLedger, type Bin } from './bin.ts';
import type { Demand } from './demand.ts';
import type { Queue } from './queue.ts';

/** Read once: an imported binding is looked up each time, and these stand in the innermost loop. */
const { CPU, MEMORY, PODS } = columnsOf;

export class Filler {
  private readonly demand: Demand;
  private readonly ledger: HostLedger;
  private readonly free: Float64Array;
  private readonly taken: Int32Array;
  private readonly picks: number[] = [];
  /** By state: whether it was met with the node's state since that last changed, and whether the type is in both. */
  private readonly asked: number[] = [];
  private readonly met: boolean[] = [];
  private question = 0;
  private state = NO_STATE;
  private type = -1;
  /** Of the last filling: at shadow prices, as bought, and what it takes. */
  value = 0;
  price = 0;
  readonly used: Float64Array;

  constructor(demand: Demand) {
    this.demand = demand;
    this.ledger = new HostLedger(demand);
    this.free = new Float64Array(demand.columns);
    this.taken = new Int32Array(demand.atoms.length);
    this.used = new Float64Array(demand.columns);
  }

  /**
   * `left` is how many of each atom wait. Out: whether the seed goes onto the
   * type; `value`, `price` and `used` then tell what the filling is like, and `bin` makes it last.
   */
  fill(
    type: number,
    seed: number,
    queue: Queue,
    left: Int32Array,
    value: Float64Array,
    limitLeft: Float64Array | undefined,
  ): boolean {
    const { demand, free } = this;
    const { columns, pool, states } = demand;
    this.reset();
    const base = type * columns;
    for (let column = 0; column < columns; column++) free[column] = pool.room[base + column]!;
    free[PODS] = Math.min(free[PODS]!, demand.options.maxPodsPerNode);
    this.state = demand.states0[seed]!;
    if (states.at(this.state).price[type]! === Number.POSITIVE_INFINITY) return false;
    if (!this.hasRoom(seed, 0) || this.ledger.allowed(seed) < 1) return false;
    this.question += 1;
    this.take(seed, value);
    const cpuRoom = pool.room[base + CPU]!;
    const memoryRoom = pool.room[base + MEMORY]!;
    // Two walks over one list: pods that want more processor than this machine's shape, and the others.
    const { rows } = demand;
    const { taken } = this;
    const { atoms, leastCpu, leastMemory } = queue;
    const end = atoms.length;
    let nextCpu = queue.start;
    let nextMemory = queue.start;
    while (free[PODS]! >= 1 && (nextCpu < end || nextMemory < end)) {
      const freeCpu = free[CPU]!;
      const freeMemory = free[MEMORY]!;
      const wantsCpu = freeCpu * memoryRoom >= freeMemory * cpuRoom;
      const forCpu = (wantsCpu && nextCpu < end) || nextMemory >= end;
      let at = forCpu ? nextCpu : nextMemory;
      for (; at < end; at++) {
        if (leastCpu[at]! > freeCpu || leastMemory[at]! > freeMemory) {
          at = end;
          break;
        }
        const atom = atoms[at]!;
        const row = atom * columns;
        const cpu = rows[row + CPU]!;
        const memory = rows[row + MEMORY]!;
        if (cpu > freeCpu || memory > freeMemory || cpu * memoryRoom >= memory * cpuRoom !== forCpu) continue;
        if (left[atom]! - taken[atom]! < 1 || !this.admits(atom, type)) continue;
        this.take(atom, value);
        break;
      }
      if (forCpu) nextCpu = at;
      else nextMemory = at;
    }
    this.used.fill(0);
    for (let at = 0; at < this.picks.length; at++) {
      const atom = this.picks[at]!;
      const pods = taken[atom]!;
      for (let column = 0; column < columns; column++) this.used[column]! += pods * rows[atom * columns + column]!;
    }
    this.type = demand.cheapestHolding(this.state, this.used, this.ledger.ports, limitLeft);
    if (this.type < 0) return false;
    this.price = states.at(this.state).price[this.type]!;
    return true;
  }

  private reset(): void {
    for (let at = 0; at < this.picks.length; at++) this.taken[this.picks[at]!] = 0;
    this.picks.length = 0;
    this.value = 0;
    this.ledger.clear();
  }

  private hasRoom(atom: number, from: number): boolean {
    const { rows, columns } = this.demand;
    for (let column = from; column < columns; column++) {
      const asked = rows[atom * columns + column]!;
      if (asked > 0 && asked > this.free[column]!) return false;
    }
    return true;
  }

  /** Processor, memory and the number of pods were looked at before. Narrows nothing yet: only asks. */
  private admits(atom: number, type: number): boolean {
    const { states, states0, host, columns } = this.demand;
    const own = states0[atom]!;
    if (own !== this.state) {
      if (this.asked[own] !== this.question) {
        const met = states.meet(this.state, own);
        this.met[own] = met >= 0 && states.at(met).price[type]! !== Number.POSITIVE_INFINITY;
        this.asked[own] = this.question;
      }
      if (!this.met[own]!) return false;
    }
    if (columns > PODS + 1 && !this.hasRoom(atom, PODS + 1)) return false;
    return host.plain[atom] === 1 || this.ledger.allowed(atom) >= 1;
  }

  private take(atom: number, value: Float64Array): void {
    const { rows, columns, states, states0 } = this.demand;
    if (this.taken[atom] === 0) this.picks.push(atom);
    this.taken[atom]! += 1;
    const own = states0[atom]!;
    if (own !== this.state) {
      const met = states.meet(this.state, own);
      if (met !== this.state) {
        this.state = met;
        this.question += 1;
      }
    }
    this.ledger.add(atom, 1);
    this.value += value[atom]!;
    for (let column = 0; column < columns; column++) this.free[column]! -= rows[atom * columns + column]!;
  }

  /** The last filling, to keep. */
  bin(limitLeft: Float64Array | undefined): Bin {
    const { demand, picks, taken, state, type, price } = this;
    const used = this.used.slice();
    return {
      state,
      type,
      price,
      atoms: [...picks],
      counts: picks.map((atom) => taken[atom]!),
      used,
      limitNeed: demand.limitNeed(state, type, used, this.ledger.ports, limitLeft),
      reservation: -1,
    };
  }
}
