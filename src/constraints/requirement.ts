/**
 * Allowed values of one node label: an immutable set (listed values, or all except those listed, within integer bounds)
 * with intersection and tests.
 */
import { NORMALIZED_LABEL_VALUES, normalizeLabelKey } from '../api/labels.ts';

export type RequirementOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt' | 'Gte' | 'Lte';

/** One item of a `requirements` list or of a node selector term. */
export interface RequirementItem {
  readonly key: string;
  readonly operator: RequirementOperator;
  readonly values?: readonly string[];
  readonly minValues?: number;
}

export type SetOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';

interface Allowed {
  readonly complement: boolean;
  readonly values: ReadonlySet<string>;
  readonly allowsAbsence: boolean;
  readonly gte?: bigint | undefined;
  readonly lte?: bigint | undefined;
  readonly minValues?: number | undefined;
}

const MAX_INT64 = 2n ** 63n - 1n;
const NO_VALUES: ReadonlySet<string> = new Set();
const SHOWN_VALUES = 5;

const singles = new Map<string, Map<string, Requirement>>();
/** Cached values per label of instance types. */
const MAX_SINGLES = 4096;

export class Requirement {
  readonly key: string;
  /** True: every value except `values`; false: exactly `values`. */
  readonly complement: boolean;
  readonly values: ReadonlySet<string>;
  /** Inclusive bounds; with a bound, values that are not integers are excluded. */
  readonly gte: bigint | undefined;
  readonly lte: bigint | undefined;
  /** Minimum number of distinct values that the instance types must still offer. */
  readonly minValues: number | undefined;
  /**
   * Whether a node without the label meets the requirement. Stored separately, so that `Exists` and bounds keep their
   * effect when combined with a `NotIn`.
   */
  readonly allowsAbsence: boolean;

  private constructor(key: string, allowed: Allowed) {
    this.key = key;
    this.complement = allowed.complement;
    this.values = allowed.values;
    this.gte = allowed.gte;
    this.lte = allowed.lte;
    this.minValues = allowed.minValues;
    this.allowsAbsence = allowed.allowsAbsence;
  }

  /** Keys and values are normalized: old beta names are replaced by the stable ones. */
  static of(
    key: string,
    operator: RequirementOperator,
    values: readonly string[] = [],
    minValues?: number,
  ): Requirement {
    const normalized = normalizeLabelKey(key);
    return new Requirement(normalized, { ...allowedBy(operator, normalized, values), minValues });
  }

  /** Exactly this value. Shared, because thousands of instance types use few distinct ones. */
  static single(key: string, value: string): Requirement {
    let ofKey = singles.get(key);
    if (ofKey === undefined) singles.set(key, (ofKey = new Map()));
    let single = ofKey.get(value);
    if (single === undefined) {
      if (ofKey.size >= MAX_SINGLES) ofKey.clear();
      ofKey.set(value, (single = Requirement.of(key, 'In', [value])));
    }
    return single;
  }

  static fromItem(item: RequirementItem): Requirement {
    return Requirement.of(item.key, item.operator, item.values, item.minValues);
  }

  /** A requirement that no node meets. */
  static none(key: string): Requirement {
    return Requirement.of(key, 'In');
  }

  /** The operator of the set, ignoring bounds. */
  get operator(): SetOperator {
    if (this.complement) return this.values.size > 0 ? 'NotIn' : 'Exists';
    return this.values.size > 0 ? 'In' : 'DoesNotExist';
  }

  has(value: string): boolean {
    return this.values.has(value) !== this.complement && withinBounds(value, this.gte, this.lte);
  }

  /** Whether some value meets both. Two open sets always share one, unless their bounds exclude each other. */
  hasIntersection(other: Requirement): boolean {
    const gte = greatest(this.gte, other.gte);
    const lte = least(this.lte, other.lte);
    if (boundsConflict(gte, lte)) return false;
    if (this.complement && other.complement) return true;
    const [few, many] = this.walksOver(other) ? [this, other] : [other, this];
    for (const value of few.values) {
      if (many.values.has(value) !== many.complement && withinBounds(value, gte, lte)) return true;
    }
    return false;
  }

  /** Whether a node can meet both, with a value or without the label. */
  isCompatible(other: Requirement): boolean {
    return (this.allowsAbsence && other.allowsAbsence) || this.hasIntersection(other);
  }

  /** Intersection of values, bounds and absence; `minValues` is the larger one. */
  intersection(other: Requirement): Requirement {
    const gte = greatest(this.gte, other.gte);
    const lte = least(this.lte, other.lte);
    const minValues = Math.max(this.minValues ?? 0, other.minValues ?? 0) || undefined;
    const allowsAbsence = this.allowsAbsence && other.allowsAbsence;
    const complement = this.complement && other.complement;
    if (boundsConflict(gte, lte)) {
      return new Requirement(this.key, { complement: false, values: NO_VALUES, allowsAbsence, minValues });
    }
    if (complement) {
      const values = keep(union(this.values, other.values), (value) => withinBounds(value, gte, lte));
      return new Requirement(this.key, { complement, values, allowsAbsence, gte, lte, minValues });
    }
    const [few, many] = this.walksOver(other) ? [this, other] : [other, this];
    const values = keep(
      few.values,
      (value) => many.values.has(value) !== many.complement && withinBounds(value, gte, lte),
    );
    return new Requirement(this.key, { complement, values, allowsAbsence, minValues });
  }

  /** The same set with another `minValues`. */
  withMinValues(minValues: number | undefined): Requirement {
    const { complement, values, allowsAbsence, gte, lte } = this;
    return new Requirement(this.key, { complement, values, allowsAbsence, gte, lte, minValues });
  }

  equals(other: Requirement): boolean {
    return (
      this.key === other.key &&
      this.complement === other.complement &&
      this.allowsAbsence === other.allowsAbsence &&
      this.gte === other.gte &&
      this.lte === other.lte &&
      this.minValues === other.minValues &&
      this.values.size === other.values.size &&
      [...this.values].every((value) => other.values.has(value))
    );
  }

  /**
   * A label value that meets the requirement: the first of a list, or an integer drawn with `random` (0 ≤ r < 1).
   * `undefined` if there is none.
   */
  anyValue(random: () => number): string | undefined {
    if (!this.complement) return [...this.values].sort()[0];
    const low = greatest(this.gte, 0n) ?? 0n;
    const high = this.lte ?? MAX_INT64;
    if (low > high) return undefined;
    const choices = high - low < BigInt(Number.MAX_SAFE_INTEGER) ? Number(high - low) + 1 : Number.MAX_SAFE_INTEGER;
    const start = Math.floor(random() * choices);
    // One step more than the number of exclusions is enough to find a value.
    for (let step = 0; step <= this.values.size && step < choices; step += 1) {
      const value = (low + BigInt((start + step) % choices)).toString();
      if (!this.values.has(value)) return value;
    }
    return undefined;
  }

  /** Items that parse back to this requirement; several when bounds, exclusions and existence are combined. */
  toItems(): RequirementItem[] {
    const item = (operator: RequirementOperator, values?: readonly string[]): RequirementItem => ({
      key: this.key,
      operator,
      ...(values === undefined ? {} : { values }),
      ...(this.minValues === undefined ? {} : { minValues: this.minValues }),
    });
    const items: RequirementItem[] = [];
    if (this.gte !== undefined) items.push(item('Gte', [this.gte.toString()]));
    if (this.lte !== undefined) items.push(item('Lte', [this.lte.toString()]));
    const bounded = items.length > 0;
    const operator = this.operator;
    if (operator === 'In' || operator === 'NotIn') items.push(item(operator, [...this.values].sort()));
    if (operator === 'DoesNotExist' || (operator === 'Exists' && !bounded)) items.push(item(operator));
    if (operator === 'NotIn' && !bounded && !this.allowsAbsence) items.push(item('Exists'));
    return items;
  }

  /** "key In [a b]", at most five values, then the bounds and `minValues`. */
  toString(): string {
    let text = `${this.key} ${this.operator}`;
    if (this.values.size > 0) {
      const values = [...this.values].sort();
      const more = values.length - SHOWN_VALUES;
      const shown = more > 0 ? [...values.slice(0, SHOWN_VALUES), `and ${more} others`] : values;
      text += ` [${shown.join(' ')}]`;
    }
    if (this.gte !== undefined) text += ` >=${this.gte}`;
    if (this.lte !== undefined) text += ` <=${this.lte}`;
    if (this.minValues !== undefined) text += ` minValues ${this.minValues}`;
    return text;
  }

  /** Whether to iterate over this set's values: it must be a list, and the shorter of the two. */
  private walksOver(other: Requirement): boolean {
    return !this.complement && (other.complement || this.values.size <= other.values.size);
  }
}

function allowedBy(operator: RequirementOperator, key: string, values: readonly string[]): Allowed {
  switch (operator) {
    case 'In':
      return { complement: false, values: normalizeValues(key, values), allowsAbsence: false };
    case 'NotIn':
      return { complement: true, values: normalizeValues(key, values), allowsAbsence: true };
    case 'Exists':
      return { complement: true, values: NO_VALUES, allowsAbsence: false };
    case 'DoesNotExist':
      return { complement: false, values: NO_VALUES, allowsAbsence: true };
    case 'Gt':
    case 'Gte':
    case 'Lt':
    case 'Lte':
      return withinBound(operator, parseInteger(values[0] ?? ''));
  }
}

/** A bound that is not an integer, or beyond the largest one, allows nothing. */
function withinBound(operator: 'Gt' | 'Gte' | 'Lt' | 'Lte', bound: bigint | undefined): Allowed {
  const nothing = { complement: false, values: NO_VALUES, allowsAbsence: false };
  if (bound === undefined || (operator === 'Gt' && bound === MAX_INT64)) return nothing;
  const open = { complement: true, values: NO_VALUES, allowsAbsence: false };
  if (operator === 'Gt') return { ...open, gte: bound + 1n };
  if (operator === 'Gte') return { ...open, gte: bound };
  return { ...open, lte: operator === 'Lt' ? bound - 1n : bound };
}

function normalizeValues(key: string, values: readonly string[]): ReadonlySet<string> {
  const names = NORMALIZED_LABEL_VALUES.get(key);
  return new Set(names === undefined ? values : values.map((value) => names.get(value) ?? value));
}

/** A decimal int64, as the scheduler reads label values. */
function parseInteger(text: string): bigint | undefined {
  if (!/^[+-]?\d{1,32}$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value > MAX_INT64 || value < -MAX_INT64 - 1n ? undefined : value;
}

function withinBounds(value: string, gte: bigint | undefined, lte: bigint | undefined): boolean {
  if (gte === undefined && lte === undefined) return true;
  const integer = parseInteger(value);
  return integer !== undefined && (gte === undefined || integer >= gte) && (lte === undefined || integer <= lte);
}

/** Label values cannot be negative, so an upper bound below zero allows nothing. */
function boundsConflict(gte: bigint | undefined, lte: bigint | undefined): boolean {
  return lte !== undefined && (lte < 0n || (gte !== undefined && gte > lte));
}

function greatest(left: bigint | undefined, right: bigint | undefined): bigint | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return left > right ? left : right;
}

function least(left: bigint | undefined, right: bigint | undefined): bigint | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return left < right ? left : right;
}

function union(left: ReadonlySet<string>, right: ReadonlySet<string>): ReadonlySet<string> {
  if (left.size === 0) return right;
  return right.size === 0 ? left : new Set([...left, ...right]);
}

/** Returns the same set when all values pass. */
function keep(values: ReadonlySet<string>, test: (value: string) => boolean): ReadonlySet<string> {
  const kept = [...values].filter(test);
  return kept.length === values.size ? values : new Set(kept);
}
