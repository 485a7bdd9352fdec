/**
 * A pool's offerings as columns of label value ids. Filters offerings by a requirement, which is evaluated once per
 * distinct value instead of once per offering.
 */
import type { Requirement } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import { intAt, itemAt } from '../rows.ts';
import type { CompiledOffering, CompiledPool } from './compiledPool.ts';

/** Neither the offering nor the type mentions the label. */
const SILENT = -1;

interface Column {
  readonly different: readonly Requirement[];
  /** By type and by offering: index of its distinct requirements. */
  readonly ofType: Int32Array;
  readonly ofOffering: Int32Array;
}

export class OfferingColumns {
  private readonly pool: CompiledPool;
  private readonly columns = new Map<string, Column>();
  /** Distinct requirements, shared by thousands of offerings, and by offering its index. */
  private readonly sets: readonly Requirements[];
  private readonly setOf: Int32Array;

  private constructor(pool: CompiledPool, sets: readonly Requirements[], setOf: Int32Array) {
    this.pool = pool;
    this.sets = sets;
    this.setOf = setOf;
  }

  static of(pool: CompiledPool): OfferingColumns {
    const ids = new Map<Requirements, number>();
    const setOf = new Int32Array(pool.offerings.length);
    for (const { index, offering } of pool.offerings) {
      const { requirements } = offering;
      let id = ids.get(requirements);
      if (id === undefined) {
        id = ids.size;
        ids.set(requirements, id);
      }
      setOf[index] = id;
    }
    return new OfferingColumns(pool, [...ids.keys()], setOf);
  }

  /** Offerings compatible with the pool's own requirements. */
  allowedByPool(): readonly CompiledOffering[] {
    const keys = new Set<string>();
    for (const requirements of this.sets) for (const key of requirements.keys()) keys.add(key);
    const own = this.pool.requirements;
    // Well-known labels that the pool does not mention are unrestricted.
    const asked = [...keys].filter((key) => own.has(key) || !this.pool.knownKeys.has(key));
    return this.filter(this.pool.offerings, asked, false, (_, requirement) =>
      own.isCompatible(Requirements.of(requirement), this.pool.knownKeys),
    );
  }

  /** Offerings that meet the requirements on these keys, as types and as offerings. */
  meeting(
    offerings: readonly CompiledOffering[],
    requirements: Requirements,
    keys: readonly string[],
  ): readonly CompiledOffering[] {
    return this.filter(offerings, keys, true, (key, requirement) => requirements.get(key).isCompatible(requirement));
  }

  /** Values of the label among the offerings, from the offering itself or from its type. */
  valuesOf(offerings: readonly CompiledOffering[], key: string): string[] {
    const { different, ofType, ofOffering } = this.column(key);
    const present = new Uint8Array(different.length);
    for (const { index, type } of offerings) {
      const own = intAt(ofOffering, index);
      const id = own === SILENT ? intAt(ofType, type) : own;
      if (id !== SILENT) present[id] = 1;
    }
    return different.flatMap(({ complement, values }, id) => (present[id] === 0 || complement ? [] : [...values]));
  }

  private filter(
    offerings: readonly CompiledOffering[],
    keys: readonly string[],
    asTypes: boolean,
    isAllowed: (key: string, requirement: Requirement) => boolean,
  ): readonly CompiledOffering[] {
    let left = offerings;
    for (const key of keys) {
      const { different, ofType, ofOffering } = this.column(key);
      if (different.length === 0) continue;
      const allowed = different.map((requirement) => isAllowed(key, requirement));
      if (allowed.every((each) => each)) continue;
      const kept: CompiledOffering[] = [];
      for (const each of left) {
        const own = intAt(ofOffering, each.index);
        const typical = asTypes ? intAt(ofType, each.type) : SILENT;
        if ((own === SILENT || itemAt(allowed, own)) && (typical === SILENT || itemAt(allowed, typical)))
          kept.push(each);
      }
      left = kept;
    }
    return left;
  }

  private column(key: string): Column {
    const known = this.columns.get(key);
    if (known !== undefined) return known;
    const { types, offerings } = this.pool;
    const different: Requirement[] = [];
    const ids = new Map<string, number>();
    const idOf = (requirements: Requirements): number => {
      const requirement = requirements.find(key);
      if (requirement === undefined) return SILENT;
      const name = nameOf(requirement);
      let id = ids.get(name);
      if (id === undefined) {
        id = different.push(requirement) - 1;
        ids.set(name, id);
      }
      return id;
    };
    const ofType = new Int32Array(types.length);
    for (let type = 0; type < types.length; type++) ofType[type] = idOf(itemAt(types, type).requirements);
    const ofOffering = new Int32Array(offerings.length);
    const ofSet = Int32Array.from(this.sets, idOf);
    for (let at = 0; at < ofOffering.length; at++) ofOffering[at] = intAt(ofSet, intAt(this.setOf, at));
    const column = { different, ofType, ofOffering };
    this.columns.set(key, column);
    return column;
  }
}

/** Equal names mean equal sets: a plain value is its own name, and values contain no line break. */
function nameOf({ complement, allowsAbsence, values, gte, lte }: Requirement): string {
  if (!complement && !allowsAbsence && values.size === 1) return values.values().next().value!;
  return `\n${complement}/${allowsAbsence}/${gte}/${lte}/${[...values].join('\n')}`;
}
