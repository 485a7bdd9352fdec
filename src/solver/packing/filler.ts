/**
 * Fills one machine so that its resources run out together. In: what is left to place, a type, and the pod it is
 * opened for; out: what it takes, and the cheapest type that holds just that.
 */
import { NO_STATE } from '../model/stateTable.ts';
import * as columnsOf from '../model/resourceTable.ts';
import { HostLedger, type Bin } from './bin.ts';
import type { Demand } from './demand.ts';

/** Read once: an imported binding is looked up each time, and these stand in the innermost loop. */
const { CPU, MEMORY, PODS } = columnsOf;

export class Filler {
  private readonly demand: Demand;
  private readonly ledger: HostLedger;
  private readonly free: Float64Array;
  private readonly taken: Int32Array;
  private readonly picks: number[] = [];
  private state = NO_STATE;
  /** Of the last filling, at shadow prices. */
  value = 0;

  constructor(demand: Demand) {
    this.demand = demand;
    this.ledger = new HostLedger(demand);
    this.free = new Float64Array(demand.columns);
    this.taken = new Int32Array(demand.atoms.length);
  }

  /**
   * `order` lists atoms, most valuable first; `left` is how many of each wait. Out: the bin, or nothing when the
   * seed does not go onto the type. `dearest`: a bin above that price is of no interest.
   */
  fill(
    type: number,
    seed: number,
    order: Int32Array,
    left: Int32Array,
    value: Float64Array,
    limitLeft: Float64Array | undefined,
  ): Bin | undefined {
    const { demand, free } = this;
    const { columns, pool, states } = demand;
    this.reset();
    const base = type * columns;
    for (let column = 0; column < columns; column++) free[column] = pool.room[base + column]!;
    free[PODS] = Math.min(free[PODS]!, demand.options.maxPodsPerNode);
    this.state = demand.states0[seed]!;
    if (states.at(this.state).price[type]! === Number.POSITIVE_INFINITY) return undefined;
    if (this.room(seed) < 1 || this.ledger.allowed(seed) < 1) return undefined;
    this.take(seed, 1, value);
    const cpuRoom = pool.room[base + CPU]!;
    const memoryRoom = pool.room[base + MEMORY]!;
    // Two walks over one list: pods that want more processor than this machine's shape, and the others.
    const next = [0, 0];
    const done = [false, false];
    while (free[PODS]! >= 1 && !(done[0] && done[1])) {
      const wantsCpu = free[CPU]! * memoryRoom >= free[MEMORY]! * cpuRoom;
      const side = (wantsCpu && !done[0]) || done[1] ? 0 : 1;
      let at = next[side]!;
      let picked = false;
      for (; at < order.length; at++) {
        const atom = order[at]!;
        const row = atom * columns;
        const heavy = demand.rows[row + CPU]! * memoryRoom >= demand.rows[row + MEMORY]! * cpuRoom ? 0 : 1;
        if (heavy !== side || left[atom]! - this.taken[atom]! < 1) continue;
        if (demand.rows[row + CPU]! > free[CPU]! || demand.rows[row + MEMORY]! > free[MEMORY]!) continue;
        if (this.room(atom) < 1 || !this.admits(atom, type)) continue;
        this.take(atom, 1, value);
        picked = true;
        break;
      }
      next[side] = at;
      if (!picked) done[side] = true;
    }
    return this.finish(limitLeft);
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

  private finish(limitLeft: Float64Array | undefined): Bin | undefined {
    const { demand, picks, taken } = this;
    const used = loadOf(
      demand,
      picks,
      picks.map((atom) => taken[atom]!),
    );
    const type = demand.cheapestHolding(this.state, used, this.ledger.ports, limitLeft);
    if (type < 0) return undefined;
    return {
      state: this.state,
      type,
      price: demand.states.at(this.state).price[type]!,
      atoms: [...picks],
      counts: picks.map((atom) => taken[atom]!),
      used,
      limitNeed: demand.limitNeed(this.state, type, used, this.ledger.ports, limitLeft),
      reservation: -1,
    };
  }
}

export function loadOf(demand: Demand, atoms: readonly number[], counts: readonly number[]): Float64Array {
  const used = new Float64Array(demand.columns);
  atoms.forEach((atom, at) => {
    for (let column = 0; column < used.length; column++) {
      used[column]! += counts[at]! * demand.rows[atom * demand.columns + column]!;
    }
  });
  return used;
}
