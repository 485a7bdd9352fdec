/**
 * Requirements by label key: what a node, pool, instance type or pod says about labels. An immutable map that can be
 * narrowed and checked for compatibility, with reasons.
 */
import { Labels } from '../api/labels.ts';
import { Requirement, type RequirementItem } from './requirement.ts';

/** Why an incoming requirement cannot be met. */
export type Incompatibility =
  /** The key is neither defined here nor well-known. */
  | { readonly kind: 'undefined'; readonly key: string; readonly incoming: Requirement; readonly typoOf?: string }
  /** Both define the key without a common value. */
  | { readonly kind: 'conflict'; readonly key: string; readonly incoming: Requirement; readonly existing: Requirement };

const NONE: ReadonlySet<string> = new Set();

export class Requirements implements Iterable<Requirement> {
  static readonly empty = new Requirements(new Map());

  private readonly byKey: ReadonlyMap<string, Requirement>;

  private constructor(byKey: ReadonlyMap<string, Requirement>) {
    this.byKey = byKey;
  }

  /** Requirements on the same key are intersected. */
  static of(...requirements: readonly Requirement[]): Requirements {
    return Requirements.empty.add(...requirements);
  }

  static fromItems(items: Iterable<RequirementItem>): Requirements {
    return Requirements.empty.add(...Array.from(items, (item) => Requirement.fromItem(item)));
  }

  /** Each label must have exactly its value. */
  static fromLabels(labels: Readonly<Record<string, string>> | undefined): Requirements {
    return Requirements.empty.add(
      ...Object.entries(labels ?? {}).map(([key, value]) => Requirement.of(key, 'In', [value])),
    );
  }

  get size(): number {
    return this.byKey.size;
  }

  has(key: string): boolean {
    return this.byKey.has(key);
  }

  /** The requirement on a key; an unmentioned key may have any value. */
  get(key: string): Requirement {
    return this.byKey.get(key) ?? Requirement.of(key, 'Exists');
  }

  /** `undefined` for an unmentioned key. */
  find(key: string): Requirement | undefined {
    return this.byKey.get(key);
  }

  keys(): IterableIterator<string> {
    return this.byKey.keys();
  }

  [Symbol.iterator](): Iterator<Requirement> {
    return this.byKey.values();
  }

  get hasMinValues(): boolean {
    for (const requirement of this) if (requirement.minValues !== undefined) return true;
    return false;
  }

  /** Narrowed by more requirements. */
  add(...requirements: readonly Requirement[]): Requirements {
    if (requirements.length === 0) return this;
    const byKey = new Map(this.byKey);
    for (const requirement of requirements) {
      const existing = byKey.get(requirement.key);
      byKey.set(requirement.key, existing === undefined ? requirement : existing.intersection(requirement));
    }
    return new Requirements(byKey);
  }

  /** Narrowed by all of another set. */
  merge(other: Requirements): Requirements {
    return this.size === 0 ? other : this.add(...other);
  }

  /** With this requirement in place of any other on its key. */
  replace(requirement: Requirement): Requirements {
    return new Requirements(new Map(this.byKey).set(requirement.key, requirement));
  }

  without(...keys: readonly string[]): Requirements {
    const byKey = new Map(this.byKey);
    for (const key of keys) byKey.delete(key);
    return byKey.size === this.size ? this : new Requirements(byKey);
  }

  /**
   * Whether a node described by these requirements can meet `incoming`. A key not defined here is incompatible unless
   * it is in `allowUndefined` or the incoming requirement allows absence.
   */
  isCompatible(incoming: Requirements, allowUndefined: ReadonlySet<string> = NONE): boolean {
    for (const requirement of incoming) {
      if (this.isUndefined(requirement, allowUndefined)) return false;
    }
    return this.intersects(incoming);
  }

  /** All reasons why `isCompatible` is false; empty when it is true. */
  incompatibilities(incoming: Requirements, allowUndefined: ReadonlySet<string> = NONE): Incompatibility[] {
    const found: Incompatibility[] = [];
    for (const requirement of incoming) {
      const key = requirement.key;
      if (this.isUndefined(requirement, allowUndefined)) {
        const typoOf = this.typoOf(key, allowUndefined);
        found.push({ kind: 'undefined', key, incoming: requirement, ...(typoOf === undefined ? {} : { typoOf }) });
      }
      const existing = this.byKey.get(key);
      if (existing !== undefined && !existing.isCompatible(requirement)) {
        found.push({ kind: 'conflict', key, incoming: requirement, existing });
      }
    }
    return found.sort((left, right) => compareText(left.key, right.key));
  }

  /** Whether the keys defined in both can be met together. */
  intersects(other: Requirements): boolean {
    const [few, many] = this.size <= other.size ? [this, other] : [other, this];
    for (const requirement of few) {
      const counterpart = many.byKey.get(requirement.key);
      if (counterpart !== undefined && !counterpart.isCompatible(requirement)) return false;
    }
    return true;
  }

  equals(other: Requirements): boolean {
    if (this.size !== other.size) return false;
    for (const requirement of this) {
      const counterpart = other.byKey.get(requirement.key);
      if (counterpart === undefined || !counterpart.equals(requirement)) return false;
    }
    return true;
  }

  /** Items for the API, sorted by key. */
  toItems(): RequirementItem[] {
    return this.sorted().flatMap((requirement) => requirement.toItems());
  }

  /** One line, sorted by key. Without the hostname, which is an invented name in simulations. */
  toString(): string {
    return this.sorted()
      .filter((requirement) => requirement.key !== Labels.hostname)
      .join(', ');
  }

  private sorted(): Requirement[] {
    return [...this].sort((left, right) => compareText(left.key, right.key));
  }

  private isUndefined(incoming: Requirement, allowUndefined: ReadonlySet<string>): boolean {
    return !this.byKey.has(incoming.key) && !allowUndefined.has(incoming.key) && !incoming.allowsAbsence;
  }

  /** A known key that contains the unknown one, or has the same suffix: probably the intended one. */
  private typoOf(key: string, allowUndefined: ReadonlySet<string>): string | undefined {
    const name = key.slice(key.lastIndexOf('/') + 1);
    const known = [...[...allowUndefined].sort(), ...[...this.byKey.keys()].sort()];
    return known.find((candidate) => candidate.includes(key) || candidate.endsWith(name));
  }
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
