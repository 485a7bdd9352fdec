/**
 * Vectors of quantities by resource name. Plain immutable values: every function returns a new record and a resource
 * that is absent counts as zero.
 */
import { Quantity } from './quantity.ts';

export type Resources = Readonly<Record<string, Quantity>>;

export const noResources: Resources = Object.freeze({});

/** Throws a `UnitError` for the first amount that is not a quantity. */
export function parseResources(record: Readonly<Record<string, string | number>> | undefined): Resources {
  if (record === undefined) return noResources;
  const result: Record<string, Quantity> = {};
  for (const name of Object.keys(record)) {
    const amount = record[name];
    if (amount !== undefined) result[name] = Quantity.parse(amount);
  }
  return result;
}

export function formatResources(resources: Resources): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, amount] of Object.entries(resources)) result[name] = amount.toString();
  return result;
}

/** The amount of one resource; zero when absent. */
export function quantityOf(resources: Resources, name: string): Quantity {
  // A resource may be called "constructor": look at own keys only.
  return (Object.hasOwn(resources, name) ? resources[name] : undefined) ?? Quantity.zero;
}

export function addResources(...vectors: readonly Resources[]): Resources {
  return combine(vectors, (sum, amount) => sum.add(amount));
}

/** `left − right` over the keys of both: what is only in `right` comes out negative. */
export function subtractResources(left: Resources, right: Resources): Resources {
  const result: Record<string, Quantity> = { ...left };
  for (const name of Object.keys(right)) result[name] = quantityOf(left, name).subtract(quantityOf(right, name));
  return result;
}

/** Element-wise maximum over the keys of all. */
export function maxResources(...vectors: readonly Resources[]): Resources {
  return combine(vectors, (greatest, amount) => (amount.compare(greatest) > 0 ? amount : greatest));
}

/** Every amount `count` times; `count` is an integer. */
export function multiplyResources(resources: Resources, count: number): Resources {
  const result: Record<string, Quantity> = {};
  for (const [name, amount] of Object.entries(resources)) result[name] = amount.multiply(count);
  return result;
}

/** Whether every requested amount is available. Negative amounts of unrequested resources are ignored. */
export function fits(request: Resources, available: Resources): boolean {
  for (const name of Object.keys(request)) {
    if (quantityOf(request, name).compare(quantityOf(available, name)) > 0) return false;
  }
  return true;
}

/** Whether some amount is negative: such a node accepts no pod, whatever its requests. */
export function hasNegative(resources: Resources): boolean {
  for (const name of Object.keys(resources)) {
    if (quantityOf(resources, name).sign() < 0) return true;
  }
  return false;
}

export function isZeroResources(resources: Resources): boolean {
  return Object.keys(resources).every((name) => quantityOf(resources, name).isZero());
}

/** Same amounts; an absent resource equals a zero one. */
export function equalResources(left: Resources, right: Resources): boolean {
  return fits(left, right) && fits(right, left);
}

/** Resources of which `used` exceeds `limits`; resources not in `limits` are unlimited. */
export function exceededResources(used: Resources, limits: Resources): string[] {
  return Object.keys(limits)
    .filter((name) => quantityOf(used, name).compare(quantityOf(limits, name)) > 0)
    .sort();
}

function combine(vectors: readonly Resources[], join: (left: Quantity, right: Quantity) => Quantity): Resources {
  const result: Record<string, Quantity> = {};
  for (const vector of vectors) {
    for (const name of Object.keys(vector)) {
      const amount = quantityOf(vector, name);
      const present = Object.hasOwn(result, name) ? result[name] : undefined;
      result[name] = present === undefined ? amount : join(present, amount);
    }
  }
  return result;
}
