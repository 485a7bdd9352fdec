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
    if (this.room(seed) < 1 || this.ledger.allowed(seed) < 1) return false;
    this.take(seed, 1, value);
    const cpuRoom = pool.room[base + CPU]!;
    const memoryRoom = pool.room[base + MEMORY]!;
    // Two walks over one list: pods that want more processor than this machine's shape, and the others.
    const { rows } = demand;
    const { taken } = this;
    const { atoms, leastCpu, leastMemory } = queue;
    const next = [queue.start, queue.start];
    const done = [false, false];
    while (free[PODS]! >= 1 && !(done[0] && done[1])) {
      const freeCpu = free[CPU]!;
      const freeMemory = free[MEMORY]!;
      const wantsCpu = freeCpu * memoryRoom >= freeMemory * cpuRoom;
      const side = (wantsCpu && !done[0]) || done[1] ? 0 : 1;
      let at = next[side]!;
      let picked = false;
      for (; at < atoms.length && leastCpu[at]! <= freeCpu && leastMemory[at]! <= freeMemory; at++) {
        const atom = atoms[at]!;
        const row = atom * columns;
        if (rows[row + CPU]! > freeCpu || rows[row + MEMORY]! > freeMemory) continue;
        const heavy = rows[row + CPU]! * memoryRoom >= rows[row + MEMORY]! * cpuRoom ? 0 : 1;
        if (heavy !== side || left[atom]! - taken[atom]! < 1) continue;
        if (this.room(atom) < 1 || !this.admits(atom, type)) continue;
        this.take(atom, 1, value);
        picked = true;
        break;
      }
      next[side] = at;
      if (!picked) done[side] = true;
    }
    this.used.fill(0);
    for (const atom of this.picks) {
      const pods = this.taken[atom]!;
      for (let column = 0; column < columns; column++)
        this.used[column]! += pods * demand.rows[atom * columns + column]!;
    }
    this.type = demand.cheapestHolding(this.state, this.used, this.ledger.ports, limitLeft);
    if (this.type < 0) return false;
    this.price = states.at(this.state).price[this.type]!;
    return true;
  }

  private reset(): void {
    for (const atom of this.picks) this.taken[atom] = 0;
    this.picks.length = 0;
    this.value = 0;
    this.ledger.clear();
  }

  private room(atom: number): number {
    const { rows, columns } = this.demand;
    const row = atom * columns;
    for (let column = 0; column < columns; column++) {
      const asked = rows[row + column]!;
      if (asked > 0 && asked > this.free[column]!) return 0;
    }
    return 1;
  }

  /** Narrows nothing yet: only asks. */
  private admits(atom: number, type: number): boolean {
    const { states, states0, plain } = this.demand;
    const own = states0[atom]!;
    if (own !== this.state) {
      const met = states.meet(this.state, own);
      if (met < 0 || states.at(met).price[type]! === Number.POSITIVE_INFINITY) return false;
    }
    return plain[atom] === 1 || this.ledger.allowed(atom) >= 1;
  }

  private take(atom: number, pods: number, value: Float64Array): void {
    const { rows, columns, states, states0 } = this.demand;
    if (this.taken[atom] === 0) this.picks.push(atom);
    this.taken[atom]! += pods;
    this.state = states.meet(this.state, states0[atom]!);
    this.ledger.add(atom, pods);
    this.value += value[atom]! * pods;
    for (let column = 0; column < columns; column++) this.free[column]! -= pods * rows[atom * columns + column]!;
  }

  /** The last filling, to keep. */
  bin(limitLeft: Float64Array | undefined): Bin {
    const { demand, picks, taken, state, type, price } = this;
    const used = Float64Array.from(this.used);
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
