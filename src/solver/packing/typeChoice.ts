/** Which instance types of a pool hold a load, and which is the cheapest in a state and within limits. */
import { hostPortsClash, type HostPort } from '../../pods/hostPorts.ts';
import type { CompiledPool } from '../model/compiledPool.ts';
import { UNLIMITED } from '../model/hostCounts.ts';
import { CPU, PODS } from '../model/resourceTable.ts';
import type { StateTable } from '../model/stateTable.ts';
import { floatAt, intAt, isWithin, itemAt, Rows } from '../rows.ts';

export interface PackingOptions {
  readonly nodeOverheadCost: number;
  readonly maxPodsPerNode: number;
  readonly strictMinValues: boolean;
}

const NO_LIMITS = new Float64Array(0);

export class TypeChoice {
  readonly pool: CompiledPool;
  readonly states: StateTable;
  readonly options: PackingOptions;
  /** Number of resources. */
  readonly columns: number;
  /** Row per type: room for pods. */
  readonly room: Rows;
  /** Row per type: what it adds to the usage of the pool's limits. */
  private readonly limitUse: Rows;
  /** By state, once computed: types without a cheaper substitute. */
  readonly undominated = new Map<number, readonly number[]>();
  private readonly largestByState: (Float64Array | undefined)[] = [];

  constructor(pool: CompiledPool, states: StateTable, columns: number, options: PackingOptions) {
    this.pool = pool;
    this.states = states;
    this.options = options;
    this.columns = columns;
    this.room = new Rows(columns, pool.room);
    this.limitUse = new Rows(pool.limitNames.length, pool.limitUse);
  }

  fits(type: number, used: Float64Array): boolean {
    return this.room.holds(type, used);
  }

  /** Whether any type of the state holds the load, at any price. Asks the dearest first, because they are large. */
  holdsSomehow(state: number, used: Float64Array, ports: readonly HostPort[]): boolean {
    if (!isWithin(used, this.largestRoom(state)) || floatAt(used, PODS) > this.options.maxPodsPerNode) return false;
    const { types, minValues } = this.states.at(state);
    if (minValues.length > 0) return this.cheapestHolding(state, used, ports, undefined) >= 0;
    for (let at = types.length - 1; at >= 0; at--) {
      const type = intAt(types, at);
      if (this.fits(type, used) && !this.clashesWithDaemons(type, ports)) return true;
    }
    return false;
  }

  /** False when every type of the state is too small in some resource; true proves nothing. */
  mayHold(state: number, load: Float64Array): boolean {
    return isWithin(load, this.largestRoom(state));
  }

  private largestRoom(state: number): Float64Array {
    const known = this.largestByState[state];
    if (known !== undefined) return known;
    const most = new Float64Array(this.columns).fill(-1);
    for (const type of this.states.at(state).types) {
      for (let column = 0; column < this.columns; column++) {
        most[column] = Math.max(floatAt(most, column), this.room.get(type, column));
      }
    }
    this.largestByState[state] = most;
    return most;
  }

  /** The cheapest type that holds the load in this state within the remaining limits, or -1. */
  cheapestHolding(
    state: number,
    used: Float64Array,
    ports: readonly HostPort[],
    limitLeft: Float64Array | undefined,
  ): number {
    if (floatAt(used, PODS) > this.options.maxPodsPerNode) return -1;
    const { types, minValues } = this.states.at(state);
    const { room } = this;
    const isPlain = limitLeft === undefined && ports.length === 0;
    for (let at = this.states.firstLargeEnough(state, used); at < types.length; at++) {
      const type = intAt(types, at);
      if (!room.holds(type, used)) continue;
      if (!isPlain && (this.clashesWithDaemons(type, ports) || !this.withinLimits(type, limitLeft))) continue;
      const isShort =
        minValues.length > 0 && this.options.strictMinValues && !this.hasMinValues(state, used, ports, limitLeft);
      return isShort ? -1 : type;
    }
    return -1;
  }

  /** Like `cheapestHolding`, but the type with the most cpu; ties: the cheapest. */
  largestHolding(
    state: number,
    used: Float64Array,
    ports: readonly HostPort[],
    limitLeft: Float64Array | undefined,
  ): number {
    let largest = this.cheapestHolding(state, used, ports, limitLeft);
    if (largest < 0) return largest;
    for (const type of this.states.at(state).types) {
      if (this.room.get(type, CPU) <= this.room.get(largest, CPU) || !this.fits(type, used)) continue;
      if (!this.clashesWithDaemons(type, ports) && this.withinLimits(type, limitLeft)) largest = type;
    }
    return largest;
  }

  /** How many times the largest type of the state within the remaining limits holds the row. */
  mostHeld(state: number, row: Float64Array, limitLeft: Float64Array | undefined): number {
    let most = 0;
    for (const type of this.states.at(state).types) {
      if (this.withinLimits(type, limitLeft)) most = Math.max(most, this.room.timesHeld(type, row, UNLIMITED));
    }
    return most;
  }

  withinLimits(type: number, limitLeft: Float64Array | undefined): boolean {
    if (limitLeft === undefined) return true;
    for (let limit = 0; limit < limitLeft.length; limit++) {
      if (this.limitUse.get(type, limit) > floatAt(limitLeft, limit)) return false;
    }
    return true;
  }

  clashesWithDaemons(type: number, ports: readonly HostPort[]): boolean {
    if (ports.length === 0) return false;
    return itemAt(this.pool.daemonPorts, type).some((taken) => ports.some((port) => hostPortsClash(port, taken)));
  }

  /**
   * What a node of the type adds to the usage of the limits. With minValues, the limits must have room for every type
   * of the required choice.
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
    const need = this.limitUse.copy(type);
    const { minValues, types } = this.states.at(state);
    if (minValues.length === 0 || !this.options.strictMinValues) return need;
    for (const other of types) {
      if (this.hasMinValues(state, used, ports, need)) break;
      if (!this.fits(other, used) || !this.withinLimits(other, limitLeft)) continue;
      for (let limit = 0; limit < width; limit++) {
        need[limit] = Math.max(floatAt(need, limit), this.limitUse.get(other, limit));
      }
    }
    return need;
  }

  /** Whether the types that hold the load still offer as many values as the pool's minValues require. */
  private hasMinValues(
    state: number,
    used: Float64Array,
    ports: readonly HostPort[],
    limitLeft: Float64Array | undefined,
  ): boolean {
    return this.minValuesOffered(state, used, ports, limitLeft).every(({ atLeast, offered }) => offered >= atLeast);
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
        const requirement = offering.requirements.find(key) ?? itemAt(pool.types, type).requirements.find(key);
        if (requirement === undefined || requirement.complement) continue;
        for (const value of requirement.values) values.add(value);
      }
      return { key, atLeast, offered: values.size };
    });
  }
}
