/**
 * What a machine under construction may still become. In: a pool, and requirements that narrow it; out: numbered
 * states, each with the types and offerings that are left, cheapest first. A question asked twice is answered once.
 */
import { Requirement } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import type { CompiledOffering, CompiledPool } from './compiledPool.ts';
import { Interner } from './interner.ts';

export const NO_STATE = -1;
const UNKNOWN = -2;

export interface MachineState {
  readonly id: number;
  readonly pool: CompiledPool;
  readonly requirements: Requirements;
  /** Offerings that can still be bought. */
  readonly offerings: readonly CompiledOffering[];
  /** Types that can still be bought without a reservation (or only with one, if all need one), cheapest first. */
  readonly types: Int32Array;
  /** By type; Infinity when it cannot be bought without a reservation. */
  readonly price: Float64Array;
  readonly reserved: readonly CompiledOffering[];
  readonly minValues: readonly { readonly key: string; readonly atLeast: number }[];
}

export class StateTable {
  readonly requirementSets = new Interner<Requirements>();
  private readonly interned = new Interner<MachineState>();
  private readonly bases: number[];
  /** By state: the state after narrowing by requirement set n. */
  private readonly narrowed: number[][] = [];
  private readonly met: number[][] = [];
  private readonly pins = new Map<string, number>();
  private readonly labelValues: Map<string, readonly string[]>[] = [];

  constructor(pools: readonly CompiledPool[]) {
    this.requirementId(Requirements.empty);
    this.bases = pools.map((pool) => this.add(pool, pool.requirements, compatibleOfferings(pool)));
  }

  get size(): number {
    return this.interned.values.length;
  }

  /** 0 is the empty set. */
  requirementId(requirements: Requirements): number {
    return this.requirementSets.intern(canonicalKey(requirements), () => requirements);
  }

  at(id: number): MachineState {
    return this.interned.values[id]!;
  }

  /** `NO_STATE` when nothing can be bought from the pool at all. */
  base(pool: number): number {
    return this.bases[pool] ?? NO_STATE;
  }

  narrow(state: number, requirementId: number): number {
    if (requirementId === 0 || state < 0) return state;
    const row = (this.narrowed[state] ??= []);
    const known = row[requirementId] ?? UNKNOWN;
    if (known !== UNKNOWN) return known;
    const result = this.merge(this.at(state), this.requirementSets.at(requirementId));
    row[requirementId] = result;
    return result;
  }

  /** What meets both; both are states of the same pool. */
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

  /** With the key pinned to one value. */
  pin(state: number, key: string, value: string): number {
    const name = `${key}\n${value}`;
    let id = this.pins.get(name);
    if (id === undefined) {
      id = this.requirementId(Requirements.of(Requirement.of(key, 'In', [value])));
      this.pins.set(name, id);
    }
    return this.narrow(state, id);
  }

  /** The values of a label that the state's offerings can still have, in order. */
  valuesOf(state: number, key: string): readonly string[] {
    const known = (this.labelValues[state] ??= new Map());
    const values = known.get(key) ?? this.findValues(state, key);
    known.set(key, values);
    return values;
  }

  private findValues(state: number, key: string): string[] {
    const { requirements, offerings, pool } = this.at(state);
    const own = requirements.has(key) ? requirements.get(key) : undefined;
    const values = new Set<string>();
    if (own !== undefined && !own.complement) for (const value of own.values) values.add(value);
    const fromTypes = new Set<string>();
    for (const { type, offering } of offerings) {
      const source = offering.requirements.has(key) ? offering.requirements : pool.types[type]!.requirements;
      if (!source.has(key)) continue;
      const found = source.get(key);
      if (found.complement) continue;
      for (const value of found.values) if (own === undefined || own.has(value)) fromTypes.add(value);
    }
    // Types that say nothing about the key leave it to the pool.
    return [...(fromTypes.size > 0 ? fromTypes : values)].sort();
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
    const offerings = from.offerings.filter((each) => isOffered(each, from.pool, merged, changed));
    return this.add(from.pool, merged, offerings);
  }

  private add(pool: CompiledPool, requirements: Requirements, offerings: readonly CompiledOffering[]): number {
    if (offerings.length === 0) return NO_STATE;
    return this.interned.intern(`${pool.index}${canonicalKey(requirements)}`, (id) => {
      const price = new Float64Array(pool.types.length).fill(Number.POSITIVE_INFINITY);
      // Reserved machines are few: plans are made without them and take what is left of them at the end. Only who
      // can have nothing else plans with them.
      const onlyReserved = offerings.every(({ reservation }) => reservation >= 0);
      for (const { type, offering, reservation } of offerings) {
        if ((onlyReserved || reservation < 0) && offering.price < price[type]!) price[type] = offering.price;
      }
      const types = Int32Array.from(price.keys())
        .filter((type) => price[type]! < Number.POSITIVE_INFINITY)
        .sort((left, right) => price[left]! - price[right]! || left - right);
      const minValues = [...requirements].flatMap(({ key, minValues: atLeast }) =>
        atLeast === undefined ? [] : [{ key, atLeast }],
      );
      const reserved = offerings.filter(({ reservation }) => reservation >= 0);
      return { id, pool, requirements, offerings, types, price, reserved, minValues };
    });
  }
}

function compatibleOfferings(pool: CompiledPool): CompiledOffering[] {
  return pool.offerings.filter((each) => isOffered(each, pool, pool.requirements, undefined));
}

/** Looks only at the keys that changed since the offering was last found good. */
function isOffered(
  { type, offering }: CompiledOffering,
  pool: CompiledPool,
  requirements: Requirements,
  changed: readonly string[] | undefined,
): boolean {
  const own = pool.types[type]!.requirements;
  if (changed === undefined) {
    return (
      own.intersects(requirements) && requirements.isCompatible(offering.requirements, offeringKeys(pool, offering))
    );
  }
  for (const key of changed) {
    const wanted = requirements.get(key);
    if (own.has(key) && !own.get(key).isCompatible(wanted)) return false;
    if (offering.requirements.has(key) && !offering.requirements.get(key).isCompatible(wanted)) return false;
  }
  return true;
}

/** Whatever an offering is described by, its pool need not mention. */
function offeringKeys(
  { knownKeys }: CompiledPool,
  { requirements }: CompiledOffering['offering'],
): ReadonlySet<string> {
  const own = [...requirements.keys()].filter((key) => !knownKeys.has(key));
  return own.length === 0 ? knownKeys : new Set([...knownKeys, ...own]);
}

function canonicalKey(requirements: Requirements): string {
  return JSON.stringify(requirements.toItems());
}
