/**
 * Numbered states of a planned node: a pool, narrowed by requirements, with the remaining instance types and offerings,
 * cheapest first. Each narrowing is computed once.
 */
import { Requirement, type RequirementItem } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import type { CompiledOffering, CompiledPool } from './compiledPool.ts';
import { floatAt, intAt, itemAt } from '../rows.ts';
import { Interner } from './interner.ts';
import { OfferingColumns } from './offeringColumns.ts';
import { PurchaseOrder } from './purchaseOrder.ts';
import { RoomLevels } from './roomLevels.ts';

export const NO_STATE = -1;
const UNKNOWN = -2;
/** The empty set of requirements. */
const NOTHING_ASKED = 0;

export interface MachineState {
  readonly id: number;
  /** Equal for the same state in every model of the same pools. */
  readonly key: string;
  readonly pool: CompiledPool;
  readonly requirements: Requirements;
  /** The same as plain data, sorted by key. */
  readonly items: readonly RequirementItem[];
  /** Offerings that can still be bought, cheapest first. */
  readonly offerings: readonly CompiledOffering[];
  /** Types that can still be bought without a reservation (or with one, if all need one), cheapest first. */
  readonly types: Int32Array;
  /** By type; Infinity when it cannot be bought without a reservation. */
  readonly price: Float64Array;
  readonly reserved: readonly CompiledOffering[];
  readonly minValues: readonly { readonly key: string; readonly atLeast: number }[];
}

export class StateTable {
  readonly requirementSets = new Interner<Requirements>();
  private readonly interned = new Interner<MachineState>();
  private readonly columns: readonly OfferingColumns[];
  private bases: readonly number[] = [];
  /** By state and requirement set: the resulting state. */
  private readonly narrowed: number[][] = [];
  private readonly met: number[][] = [];
  private readonly pins = new Map<string, number>();
  private readonly bans = new Map<string, number>();
  private readonly labelValues: Map<string, readonly string[]>[] = [];
  private readonly reaches: (Float64Array | undefined)[] = [];
  private readonly orders: (PurchaseOrder | undefined)[] = [];
  private readonly pools: readonly CompiledPool[];
  private readonly levels: (RoomLevels | undefined)[] = [];

  private constructor(pools: readonly CompiledPool[], columns: readonly OfferingColumns[]) {
    this.pools = pools;
    this.columns = columns;
  }

  static of(pools: readonly CompiledPool[]): StateTable {
    const columns = pools.map((pool) => OfferingColumns.of(pool));
    const table = new StateTable(pools, columns);
    table.requirementSets.intern(canonicalKey(Requirements.empty), () => Requirements.empty);
    table.bases = pools.map((pool, at) => table.add(pool, pool.requirements, itemAt(columns, at).allowedByPool()));
    return table;
  }

  /** Number of states and requirement sets together. */
  get size(): number {
    return this.interned.values.length + this.requirementSets.values.length;
  }

  requirementId(requirements: Requirements): number {
    if (requirements.size === 0) return NOTHING_ASKED;
    return this.requirementSets.intern(canonicalKey(requirements), () => requirements);
  }

  at(id: number): MachineState {
    return itemAt(this.interned.values, id);
  }

  /** An order that, unlike state numbers, does not depend on earlier questions. */
  compare(left: number, right: number): number {
    if (left === right) return 0;
    return this.at(left).key < this.at(right).key ? -1 : 1;
  }

  /** `NO_STATE` when nothing can be bought from the pool. */
  base(pool: number): number {
    return this.bases[pool] ?? NO_STATE;
  }

  narrow(state: number, requirementId: number): number {
    if (requirementId === NOTHING_ASKED || state < 0) return state;
    const row = (this.narrowed[state] ??= []);
    const known = row[requirementId] ?? UNKNOWN;
    if (known !== UNKNOWN) return known;
    const result = this.merge(this.at(state), this.requirementSets.at(requirementId));
    row[requirementId] = result;
    return result;
  }

  /** Whether every node in the state meets the requirements; `narrowed` is the state narrowed by them. */
  isSurely(state: number, narrowed: number, requirements: Requirements): boolean {
    if (state === narrowed) return true;
    const before = this.at(state);
    const after = this.at(narrowed);
    if (before.offerings.length !== after.offerings.length) return false;
    // Labels that no instance type mentions may stay open until the node is launched.
    return [...requirements.keys()].every((key) => {
      const values = this.valuesOf(state, key).length;
      if (values > 0) return values === this.valuesOf(narrowed, key).length;
      return !before.requirements.has(key) || before.requirements.get(key).equals(after.requirements.get(key));
    });
  }

  /** Intersection of two states of the same pool. */
  meet(left: number, right: number): number {
    if (left === right) return left;
    const row = (this.met[left] ??= []);
    const known = row[right] ?? UNKNOWN;
    if (known !== UNKNOWN) return known;
    const from = this.at(left);
    const result = from.pool === this.at(right).pool ? this.merge(from, this.at(right).requirements) : NO_STATE;
    row[right] = result;
    return result;
  }

  /** The state with the key fixed to one value. */
  pin(state: number, key: string, value: string): number {
    const name = `${key}\n${value}`;
    let id = this.pins.get(name);
    if (id === undefined) {
      id = this.requirementId(Requirements.of(Requirement.of(key, 'In', [value])));
      this.pins.set(name, id);
    }
    return this.narrow(state, id);
  }

  /** The state whose nodes lack the label. */
  withoutLabel(state: number, key: string): number {
    let id = this.bans.get(key);
    if (id === undefined) {
      id = this.requirementId(Requirements.of(Requirement.of(key, 'DoesNotExist')));
      this.bans.set(key, id);
    }
    return this.narrow(state, id);
  }

  /** Whether requirements leave open both whether the node has the label and its value. */
  isOptional(state: number, key: string): boolean {
    const own = this.at(state).requirements.find(key);
    return own !== undefined && own.complement && own.allowsAbsence;
  }

  /** Values that the label can still have among the state's offerings, sorted. */
  valuesOf(state: number, key: string): readonly string[] {
    if (state < 0) return [];
    const known = (this.labelValues[state] ??= new Map());
    const values = known.get(key) ?? this.findValues(state, key);
    known.set(key, values);
    return values;
  }

  /** The node must have the label, but no instance type or requirement gives it a value. */
  isDrawn(state: number, key: string): boolean {
    const own = this.at(state).requirements.find(key);
    return own !== undefined && own.complement && !own.allowsAbsence && this.valuesOf(state, key).length === 0;
  }

  /** Order in which planned nodes buy the pool's offerings. */
  purchases(pool: number): PurchaseOrder {
    return (this.orders[pool] ??= PurchaseOrder.in(itemAt(this.pools, pool)));
  }

  /** Loads of one level fit the same types of the pool. */
  roomLevels(pool: number): RoomLevels {
    return (this.levels[pool] ??= RoomLevels.of(itemAt(this.pools, pool)));
  }

  /** Index in the state's types before which every type is too small for the load. */
  firstLargeEnough(state: number, used: Float64Array): number {
    const reach = (this.reaches[state] ??= reachOf(this.at(state), used.length));
    const columns = used.length;
    const count = reach.length / columns;
    let first = 0;
    for (let column = 0; column < columns; column++) {
      if (first >= count || floatAt(reach, first * columns + column) >= floatAt(used, column)) continue;
      let low = first + 1;
      let high = count;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (floatAt(reach, middle * columns + column) < floatAt(used, column)) low = middle + 1;
        else high = middle;
      }
      first = low;
    }
    return first;
  }

  private findValues(state: number, key: string): string[] {
    const { requirements, offerings, pool } = this.at(state);
    const own = requirements.find(key);
    const offered = itemAt(this.columns, pool.index).valuesOf(offerings, key);
    const allowed = own === undefined ? offered : offered.filter((value) => own.has(value));
    // Types that do not mention the key leave it to the pool.
    const values = allowed.length > 0 || own === undefined || own.complement ? allowed : [...own.values];
    return [...new Set(values)].sort();
  }

  private merge(from: MachineState, requirements: Requirements): number {
    if (!from.requirements.isCompatible(requirements, from.pool.knownKeys)) return NO_STATE;
    const merged = from.requirements.merge(requirements);
    const changed: string[] = [];
    for (const key of requirements.keys()) {
      const before = from.requirements;
      if (!before.has(key) || !before.get(key).equals(merged.get(key))) changed.push(key);
    }
    if (changed.length === 0) return from.id;
    const offerings = itemAt(this.columns, from.pool.index).meeting(from.offerings, merged, changed);
    return this.add(from.pool, merged, offerings);
  }

  private add(pool: CompiledPool, requirements: Requirements, offerings: readonly CompiledOffering[]): number {
    if (offerings.length === 0) return NO_STATE;
    const items = requirements.toItems();
    const key = `${pool.index}${JSON.stringify(items)}`;
    return this.interned.intern(key, (id) => {
      const price = new Float64Array(pool.types.length).fill(Number.POSITIVE_INFINITY);
      const reserved = offerings.filter(({ reservation }) => reservation >= 0);
      // Reserved capacity is scarce: plans are made without it and take it at the end. Only states that allow nothing
      // else plan with it.
      const onlyReserved = reserved.length === offerings.length;
      const types: number[] = [];
      for (const { type, offering, reservation } of offerings) {
        // Cheapest first: a type's price is that of its first offering.
        if ((!onlyReserved && reservation >= 0) || floatAt(price, type) < Number.POSITIVE_INFINITY) continue;
        price[type] = offering.price;
        types.push(type);
      }
      const minValues = [...requirements].flatMap(({ key, minValues: atLeast }) =>
        atLeast === undefined ? [] : [{ key, atLeast }],
      );
      return {
        id,
        key,
        pool,
        requirements,
        items,
        offerings,
        types: Int32Array.from(types),
        price,
        reserved,
        minValues,
      };
    });
  }
}

/** Row per index in the state's types: the largest amount of each resource of any type up to there. */
function reachOf({ types, pool }: MachineState, columns: number): Float64Array {
  const reach = new Float64Array(types.length * columns);
  for (let at = 0; at < types.length; at++) {
    for (let column = 0; column < columns; column++) {
      const own = floatAt(pool.room, intAt(types, at) * columns + column);
      const before = at === 0 ? own : floatAt(reach, (at - 1) * columns + column);
      reach[at * columns + column] = Math.max(own, before);
    }
  }
  return reach;
}

function canonicalKey(requirements: Requirements): string {
  return JSON.stringify(requirements.toItems());
}
