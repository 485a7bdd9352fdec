/**
 * What one pool is asked to hold, as arrays. In: atoms (a class with its domain decided, and how many); out: rows,
 * limits per node, the types worth trying for each, and which type is the cheapest that holds a given load.
 */
import { hostPortsClash, type HostPort } from '../../pods/hostPorts.ts';
import type { CompiledPool } from '../model/compiledPool.ts';
import type { StateTable } from '../model/stateTable.ts';
import { CPU, MEMORY, PODS } from '../model/resourceTable.ts';
import { shadowPrices, type Covering } from './coveringDuals.ts';
import type { Atom } from './atom.ts';
import { HostRules } from './hostRules.ts';

export interface PackingOptions {
  readonly nodeOverheadCost: number;
  readonly maxPodsPerNode: number;
  readonly strictMinValues: boolean;
}

/** Types tried for a state, beside one or two of every shape. */
const TYPES_BY_VALUE = 10;
const TYPES_PER_SHAPE = 2;

const NO_LIMITS = new Float64Array(0);

export class Demand {
  readonly pool: CompiledPool;
  readonly states: StateTable;
  readonly atoms: readonly Atom[];
  readonly options: PackingOptions;
  readonly columns: number;
  /** Row per atom. */
  readonly rows: Float64Array;
  readonly states0: Int32Array;
  readonly host: HostRules;
  /** What a pod of the atom is worth at the shadow prices. */
  readonly value: Float64Array;
  readonly duals: Float64Array;
  readonly nodeDual: number;
  /** No plan costs less, machines' extra cost included, even if pods could be cut. */
  readonly fractionalBound: number;
  private readonly candidatesByState: (Int32Array | undefined)[] = [];
  private readonly largestByState: (Float64Array | undefined)[] = [];

  constructor(
    pool: CompiledPool,
    states: StateTable,
    atoms: readonly Atom[],
    columns: number,
    options: PackingOptions,
  ) {
    this.pool = pool;
    this.states = states;
    this.atoms = atoms;
    this.options = options;
    this.columns = columns;
    this.rows = new Float64Array(atoms.length * columns);
    this.states0 = new Int32Array(atoms.length);
    this.value = new Float64Array(atoms.length);
    this.host = new HostRules(atoms);
    for (let atom = 0; atom < atoms.length; atom++) {
      const { podClass, state } = atoms[atom]!;
      for (let column = 0; column < columns; column++) this.rows[atom * columns + column] = podClass.row[column]!;
      this.states0[atom] = state;
    }
    const { nodesForced, share } = this.host;
    const { duals, bound } = shadowPrices(
      covering(pool, states, atoms, columns, nodesForced, options.nodeOverheadCost),
    );
    this.duals = duals.subarray(0, columns);
    this.nodeDual = duals[columns]!;
    this.fractionalBound = bound;
    for (let atom = 0; atom < atoms.length; atom++) {
      let value = 0;
      for (let column = 0; column < columns; column++) value += duals[column]! * this.rows[atom * columns + column]!;
      // Even a pod that asks for nothing must be worth carrying.
      this.value[atom] = value + this.nodeDual * share[atom]! + 1e-9;
    }
  }

  fits(type: number, used: Float64Array): boolean {
    const { room } = this.pool;
    const base = type * this.columns;
    for (let column = 0; column < this.columns; column++) if (used[column]! > room[base + column]!) return false;
    return true;
  }

  /** Whether any type of the state holds the load, whatever it costs. The dearest are asked first: they are large. */
  holdsSomehow(state: number, used: Float64Array, ports: readonly HostPort[]): boolean {
    const most = this.largestRoom(state);
    for (let column = 0; column < this.columns; column++) if (used[column]! > most[column]!) return false;
    if (used[PODS]! > this.options.maxPodsPerNode) return false;
    const { types, minValues } = this.states.at(state);
    if (minValues.length > 0) return this.cheapestHolding(state, used, ports, undefined) >= 0;
    for (let at = types.length - 1; at >= 0; at--) {
      if (this.fits(types[at]!, used) && !this.clashesWithDaemons(types[at]!, ports)) return true;
    }
    return false;
  }

  /** False when no type of the state is large enough in some resource; true means nothing yet. */
  mayHold(state: number, used: Float64Array, more: Float64Array): boolean {
    const most = this.largestRoom(state);
    for (let column = 0; column < this.columns; column++)
      if (used[column]! + more[column]! > most[column]!) return false;
    return true;
  }

  private largestRoom(state: number): Float64Array {
    const known = this.largestByState[state];
    if (known !== undefined) return known;
    const most = new Float64Array(this.columns).fill(-1);
    for (const type of this.states.at(state).types) {
      for (let column = 0; column < this.columns; column++) {
        most[column] = Math.max(most[column]!, this.pool.room[type * this.columns + column]!);
      }
    }
    this.largestByState[state] = most;
    return most;
  }

  /** The cheapest type that holds the load in this state and within what is left of the limits; -1: none. */
  cheapestHolding(
    state: number,
    used: Float64Array,
    ports: readonly HostPort[],
    limitLeft: Float64Array | undefined,
    dearest = Number.POSITIVE_INFINITY,
  ): number {
    const { types, price, minValues } = this.states.at(state);
    if (used[PODS]! > this.options.maxPodsPerNode) return -1;
    for (let at = this.states.firstLargeEnough(state, used); at < types.length; at++) {
      const type = types[at]!;
      if (price[type]! > dearest) return -1;
      if (!this.fits(type, used) || this.clashesWithDaemons(type, ports) || !this.withinLimits(type, limitLeft))
        continue;
      if (minValues.length > 0 && this.options.strictMinValues && !this.hasMinValues(state, used, ports, limitLeft))
        return -1;
      return type;
    }
    return -1;
  }

  withinLimits(type: number, limitLeft: Float64Array | undefined): boolean {
    if (limitLeft === undefined) return true;
    const width = limitLeft.length;
    for (let at = 0; at < width; at++) if (this.pool.limitUse[type * width + at]! > limitLeft[at]!) return false;
    return true;
  }

  /** Whether the types that hold the load still offer as many values as the pool asks for. */
  private hasMinValues(
    state: number,
    used: Float64Array,
    ports: readonly HostPort[],
    limitLeft: Float64Array | undefined,
  ): boolean {
    return this.minValuesOffered(state, used, ports, limitLeft).every(({ atLeast, offered }) => offered >= atLeast);
  }

  /**
   * What a node of the type counts against the limits. Where the pool asks for a choice of types, the limits must
   * leave room for every type of that choice.
   */
  limitNeed(
    state: number,
    type: number,
    used: Float64Array,
    ports: readonly HostPort[],
    limitLeft: Float64Array | undefined,
  ): Float64Array {
    const width = this.pool.limitNames.length;
    if (width === 0) return NO_LIMITS;
    const need = this.pool.limitUse.slice(type * width, (type + 1) * width);
    const { minValues, types } = this.states.at(state);
    if (minValues.length === 0 || !this.options.strictMinValues) return need;
    for (const other of types) {
      if (this.hasMinValues(state, used, ports, need)) break;
      if (!this.fits(other, used) || !this.withinLimits(other, limitLeft)) continue;
      for (let at = 0; at < width; at++) need[at] = Math.max(need[at]!, this.pool.limitUse[other * width + at]!);
    }
    return need;
  }

  minValuesOffered(
    state: number,
    used: Float64Array,
    ports: readonly HostPort[],
    limitLeft?: Float64Array,
  ): { key: string; atLeast: number; offered: number }[] {
    const { minValues, offerings, pool } = this.states.at(state);
    if (minValues.length === 0) return [];
    const holding = offerings.filter(
      ({ type, reservation }) =>
        reservation < 0 &&
        this.fits(type, used) &&
        !this.clashesWithDaemons(type, ports) &&
        this.withinLimits(type, limitLeft),
    );
    return minValues.map(({ key, atLeast }) => {
      const values = new Set<string>();
      for (const { type, offering } of holding) {
        const source = offering.requirements.has(key) ? offering.requirements : pool.types[type]!.requirements;
        if (source.has(key) && !source.get(key).complement)
          for (const value of source.get(key).values) values.add(value);
      }
      return { key, atLeast, offered: values.size };
    });
  }

  clashesWithDaemons(type: number, ports: readonly HostPort[]): boolean {
    if (ports.length === 0) return false;
    return this.pool.daemonPorts[type]!.some((taken) => ports.some((port) => hostPortsClash(port, taken)));
  }

  /** Types worth filling for a node in this state: the best value for money, and some of every shape. */
  candidates(state: number): Int32Array {
    const known = this.candidatesByState[state];
    if (known !== undefined) return known;
    const { price } = this.states.at(state);
    const kept: { type: number; worth: number; shape: number }[] = [];
    for (const type of this.undominated(state)) {
      let value = this.nodeDual;
      for (let column = 0; column < this.columns; column++) {
        value += this.duals[column]! * this.pool.room[type * this.columns + column]!;
      }
      const worth = value / (price[type]! + this.options.nodeOverheadCost + 1e-9);
      const base = type * this.columns;
      const shape = Math.round(Math.log2((this.pool.room[base + MEMORY]! + 1) / (this.pool.room[base + CPU]! + 1)));
      kept.push({ type, worth, shape });
    }
    kept.sort((left, right) => right.worth - left.worth || left.type - right.type);
    const perShape = new Map<number, number>();
    const chosen = kept.filter(({ shape }, rank) => {
      const seen = perShape.get(shape) ?? 0;
      perShape.set(shape, seen + 1);
      return rank < TYPES_BY_VALUE || seen < TYPES_PER_SHAPE;
    });
    const list = Int32Array.from(chosen, ({ type }) => type);
    this.candidatesByState[state] = list;
    return list;
  }

  /** Types that no cheaper one can stand in for, cheapest first. */
  undominated(state: number): number[] {
    const { columns } = this;
    const { room } = this.pool;
    const kept: number[] = [];
    const most = new Float64Array(columns).fill(-1);
    for (const type of this.states.at(state).types) {
      const base = type * columns;
      if (room[base + PODS]! < 1) continue;
      // Who has more of something than everyone before needs no comparison with each.
      let more = false;
      for (let column = 0; column < columns; column++) {
        if (room[base + column]! <= most[column]!) continue;
        more = true;
        most[column] = room[base + column]!;
      }
      if (more || !kept.some((other) => this.dominates(other, type))) kept.push(type);
    }
    return kept;
  }

  private dominates(better: number, worse: number): boolean {
    const { room } = this.pool;
    for (let column = 0; column < this.columns; column++) {
      if (room[better * this.columns + column]! < room[worse * this.columns + column]!) return false;
    }
    return true;
  }
}

/** The covering LP of the atoms: every resource in sum, and machines where limits per node force them. */
export function covering(
  pool: CompiledPool,
  states: StateTable,
  atoms: readonly Atom[],
  columns: number,
  nodes: number,
  nodeOverheadCost: number,
): Covering {
  const width = columns + 1;
  const demand = new Float64Array(width);
  // By type: the cheapest price that any of the atoms could pay.
  const best = new Float64Array(pool.types.length).fill(Number.POSITIVE_INFINITY);
  const seen = new Set<number>();
  for (let atom = 0; atom < atoms.length; atom++) {
    const { podClass, count, state } = atoms[atom]!;
    for (let column = 0; column < columns; column++) demand[column]! += count * podClass.row[column]!;
    if (seen.has(state)) continue;
    seen.add(state);
    const { price, types } = states.at(state);
    for (let at = 0; at < types.length; at++) {
      const type = types[at]!;
      if (price[type]! < best[type]!) best[type] = price[type]!;
    }
  }
  demand[columns] = nodes;
  let rows = 0;
  for (let type = 0; type < best.length; type++) if (best[type]! < Number.POSITIVE_INFINITY) rows += 1;
  const supply = new Float64Array(rows * width);
  const price = new Float64Array(rows);
  let row = 0;
  for (let type = 0; type < best.length; type++) {
    if (best[type]! === Number.POSITIVE_INFINITY) continue;
    for (let column = 0; column < columns; column++) supply[row * width + column] = pool.room[type * columns + column]!;
    supply[row * width + columns] = 1;
    price[row] = best[type]! + nodeOverheadCost;
    row += 1;
  }
  return { demand, supply, price };
}
