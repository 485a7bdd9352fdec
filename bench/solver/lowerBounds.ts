/**
 * Lower bounds on the cost of any plan, computed with a linear-programming solver that shares no code with the product:
 * the fractional covering bound, and the pattern bound (Gilmore–Gomory) where there are few enough kinds of pods to
 * price patterns exactly. Both ignore topology, so they also hold with it.
 */
import loadHighs, { type LegacyHighs } from 'highs';
import type { Pod } from '../../src/api/kinds.ts';
import { demandOf, type Machine, type Vector } from './offer.ts';

export interface LowerBound {
  readonly pricePerHour: number;
  readonly kind: 'fractional' | 'pattern';
}

interface PodKind {
  readonly demand: Vector;
  count: number;
}

interface Pattern {
  readonly price: number;
  readonly counts: readonly number[];
}

/** Patterns are priced by trying all of them: more kinds would take too long. */
const MAX_PATTERN_KINDS = 3;
const MAX_ROUNDS = 400;
/** Reduced costs smaller than this share of a price are noise. */
const TOLERANCE = 1e-9;

// Its typings describe the CommonJS file; what Node.js imports is the function itself.
const highs = await (loadHighs as unknown as () => Promise<LegacyHighs>)();

/** The strongest that can be had. */
export function lowerBound(pods: readonly Pod[], machines: readonly Machine[]): LowerBound {
  const kinds = podKinds(pods);
  if (kinds.length <= MAX_PATTERN_KINDS) return { kind: 'pattern', pricePerHour: patternBound(kinds, machines) };
  return { kind: 'fractional', pricePerHour: fractionalBound(pods, machines) };
}

function podKinds(pods: readonly Pod[]): PodKind[] {
  const kinds = new Map<string, PodKind>();
  for (const pod of pods) {
    const demand = demandOf(pod);
    const known = kinds.get(demand.join());
    if (known === undefined) kinds.set(demand.join(), { demand, count: 1 });
    else known.count += 1;
  }
  return [...kinds.values()];
}

/** All pods as one sum: enough cpu, memory and pod slots, nodes by the fraction. */
export function fractionalBound(pods: readonly Pod[], machines: readonly Machine[]): number {
  const total = [0, 0, 0];
  for (const pod of pods)
    for (const [index, amount] of demandOf(pod).entries()) total[index] = (total[index] ?? 0) + amount;
  const rows = total.map((amount, index) => ({ amount, terms: machines.map(({ room }) => room[index] ?? 0) }));
  return solveCovering(
    machines.map(({ price }) => price),
    rows,
  ).price;
}

/** The least price of fractions of patterns, a pattern being whole pods that one node holds. */
function patternBound(kinds: readonly PodKind[], machines: readonly Machine[]): number {
  const useful = machines.filter(
    (one) => !machines.some((other) => other !== one && other.price <= one.price && dominates(other, one)),
  );
  const patterns: Pattern[] = kinds.map((_, index) => firstPattern(kinds, index, useful));
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const rows = kinds.map(({ count }, index) => ({
      amount: count,
      terms: patterns.map(({ counts }) => counts[index] ?? 0),
    }));
    const { price, duals } = solveCovering(
      patterns.map((pattern) => pattern.price),
      rows,
    );
    const better = useful.flatMap((machine) => {
      const { counts, value } = bestPattern(kinds, machine.room, duals);
      return value > machine.price * (1 + TOLERANCE) ? [{ price: machine.price, counts }] : [];
    });
    if (better.length === 0) return price;
    patterns.push(...better);
  }
  throw new Error(`The pattern bound did not settle in ${MAX_ROUNDS} rounds.`);
}

/** Ties keep the first, so that two equal nodes do not remove each other. */
function dominates(other: Machine, one: Machine): boolean {
  const covers = other.room.every((amount, index) => amount >= (one.room[index] ?? 0));
  const same = other.price === one.price && other.room.every((amount, index) => amount === one.room[index]);
  return covers && (!same || other.name < one.name);
}

function firstPattern(kinds: readonly PodKind[], index: number, machines: readonly Machine[]): Pattern {
  const demand = kinds[index]?.demand ?? [0, 0, 0];
  const machine = machines
    .filter(({ room }) => room.every((amount, resource) => amount >= (demand[resource] ?? 0)))
    .reduce<Machine | undefined>((best, one) => (best === undefined || one.price < best.price ? one : best), undefined);
  if (machine === undefined) throw new Error('Some pods fit no machine.');
  return { price: machine.price, counts: kinds.map((_, kind) => (kind === index ? 1 : 0)) };
}

/** The most valuable pods that one node holds, by trying every combination of all kinds but the last. */
function bestPattern(
  kinds: readonly PodKind[],
  room: Vector,
  values: readonly number[],
): { readonly counts: readonly number[]; readonly value: number } {
  let best: { counts: readonly number[]; value: number } = { counts: [], value: 0 };
  const walk = (index: number, left: Vector, counts: readonly number[], value: number): void => {
    const kind = kinds[index];
    if (kind === undefined) {
      if (value > best.value) best = { counts, value };
      return;
    }
    const most = Math.min(
      kind.count,
      ...kind.demand.map((amount, resource) => Math.floor((left[resource] ?? 0) / amount)),
    );
    const worth = values[index] ?? 0;
    const least = index === kinds.length - 1 ? most : 0;
    for (let count = most; count >= least; count -= 1) {
      const [cpu, memory, pods] = kind.demand;
      const rest: Vector = [left[0] - count * cpu, left[1] - count * memory, left[2] - count * pods];
      walk(index + 1, rest, [...counts, count], value + count * worth);
    }
  };
  walk(0, room, [], 0);
  return best;
}

interface CoveringRow {
  readonly amount: number;
  readonly terms: readonly number[];
}

/** Least Σ price × x such that each row's Σ term × x reaches its amount; the dual is what one more of a row costs. */
function solveCovering(
  prices: readonly number[],
  rows: readonly CoveringRow[],
): { readonly price: number; readonly duals: readonly number[] } {
  const sum = (terms: readonly number[]): string =>
    terms.flatMap((term, index) => (term === 0 ? [] : [`${term} x${index}`])).join(' + ');
  const text = [
    'Minimize',
    ` price: ${sum(prices)}`,
    'Subject To',
    ...rows.map(({ amount, terms }, index) => ` r${index}: ${sum(terms)} >= ${amount}`),
    'End',
  ].join('\n');
  const solution = highs.solve(text);
  if (solution.Status !== 'Optimal') throw new Error(`The linear program ended as ${solution.Status}.`);
  // Rows come back in the order of the text.
  const duals = solution.Rows.map((row) => ('Dual' in row ? row.Dual : 0));
  return { price: solution.ObjectiveValue, duals };
}
