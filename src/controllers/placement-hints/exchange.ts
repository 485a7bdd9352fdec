/** Which pods two nodes should exchange so that the expected pods fit on both. */
import { quantityOf, type Resources } from '../../units/resources.ts';

/** A pod expected on a node and not running yet. */
export interface Seat<T> {
  readonly of: T;
  /** Seats of one kind are interchangeable. */
  readonly kind: string;
  readonly requests: Resources;
  /** Whether its hint may name the other node. */
  readonly mayMove: boolean;
}

export interface Table<T> {
  /** Free resources for all seats, after running pods. */
  readonly free: Resources;
  readonly seats: readonly Seat<T>[];
}

export interface Exchange<T> {
  /** From the crowded node to the other. */
  readonly there: readonly T[];
  /** From the other node to the crowded one. */
  readonly here: readonly T[];
}

type Vector = readonly number[];

interface Hand<T> {
  readonly seats: readonly Seat<T>[];
  readonly sum: Vector;
}

/** Another node for `exchangeOverMany`: its table, and which seats of the crowded one may be told it. */
export interface Neighbour<T> {
  readonly name: string;
  readonly table: Table<T>;
  readonly takes: (seat: Seat<T>) => boolean;
}

export interface Move<T> {
  readonly of: T;
  /** Undefined: the crowded node. */
  readonly to: string | undefined;
}

/** Pods that change places one by one at most, where no two nodes can help each other. */
const MOST_STEPS = 6;

/** As many move at most: each is a hint to write, and the search grows with them. */
const MOST = { there: 4, here: 3 };
const MOST_HANDS = 4_000;
const MOST_PAIRS = 400_000;

/** The first exchange found after which all seats fit, preferring few moves. */
export function exchange<T>(crowded: Table<T>, other: Table<T>): Exchange<T> | undefined {
  const names = [
    ...new Set([crowded, other].flatMap(({ seats }) => seats.flatMap(({ requests }) => Object.keys(requests)))),
  ];
  const vectorOf = (resources: Resources): Vector => names.map((name) => quantityOf(resources, name).milliValue());
  const over = minus(total(crowded.seats, vectorOf, names), vectorOf(crowded.free));
  const room = minus(vectorOf(other.free), total(other.seats, vectorOf, names));
  if (over.every((amount) => amount <= 0)) return { there: [], here: [] };
  const hands = handsOf(other.seats, MOST.here, vectorOf, names);
  let pairs = 0;
  for (const given of handsOf(crowded.seats, MOST.there, vectorOf, names)) {
    // The returned pods must fit into what the moved pods leave on the other node, and free enough room here.
    const spare = minus(given.sum, over);
    if (spare.some((amount) => amount < 0)) continue;
    const lacking = minus(given.sum, room);
    for (const taken of hands) {
      if ((pairs += 1) > MOST_PAIRS) return undefined;
      if (!isWithin(lacking, taken.sum) || !isWithin(taken.sum, spare)) continue;
      return { there: given.seats.map((seat) => seat.of), here: taken.seats.map((seat) => seat.of) };
    }
  }
  return undefined;
}

/**
 * Where each of several nodes has a little room left, but none enough: pods of the crowded node change places with smaller
 * ones of others, or just go, each time those that relieve it most. None where that does not give room to all its seats.
 */
export function exchangeOverMany<T>(crowded: Table<T>, neighbours: readonly Neighbour<T>[]): readonly Move<T>[] {
  const tables = [crowded, ...neighbours.map(({ table }) => table)];
  const names = [...new Set(tables.flatMap(({ seats }) => seats.flatMap(({ requests }) => Object.keys(requests))))];
  const vectorOf = (resources: Resources): Vector => names.map((name) => quantityOf(resources, name).milliValue());
  const free = vectorOf(crowded.free);
  let over = minus(total(crowded.seats, vectorOf, names), free);
  const burden = (vector: Vector): number =>
    vector.reduce((sum, amount, at) => sum + Math.max(0, amount) / Math.max(1, free[at] ?? 0), 0);
  const own = new Set(oneOfAKind(crowded.seats.map((seat) => ({ seat, size: vectorOf(seat.requests) }))));
  const others = neighbours.map((neighbour) => ({
    neighbour,
    left: minus(vectorOf(neighbour.table.free), total(neighbour.table.seats, vectorOf, names)),
    seats: new Set(
      oneOfAKind(neighbour.table.seats.map((seat) => ({ seat, size: vectorOf(seat.requests) }))).filter(
        ({ seat }) => seat.mayMove,
      ),
    ),
  }));
  const nothing = { seat: undefined, size: names.map(() => 0) };
  const moves: Move<T>[] = [];
  for (let step = 0; step < MOST_STEPS && burden(over) > 0; step++) {
    let best: { readonly relief: number; readonly apply: () => void } | undefined;
    for (const other of others) {
      for (const given of own) {
        if (!other.neighbour.takes(given.seat)) continue;
        for (const taken of [nothing, ...other.seats]) {
          const gain = minus(given.size, taken.size);
          if (!isWithin(gain, other.left)) continue;
          const relieved = minus(over, gain);
          const relief = burden(over) - burden(relieved);
          if (relief <= (best?.relief ?? 0)) continue;
          const apply = (): void => {
            over = relieved;
            other.left = minus(other.left, gain);
            own.delete(given);
            moves.push({ of: given.seat.of, to: other.neighbour.name });
            if (taken.seat === undefined) return;
            other.seats.delete(taken);
            moves.push({ of: taken.seat.of, to: undefined });
          };
          best = { relief, apply };
        }
      }
    }
    if (best === undefined) return [];
    best.apply();
  }
  return burden(over) > 0 ? [] : moves;
}

function oneOfAKind<T extends { readonly seat: { readonly kind: string } }>(seats: readonly T[]): readonly T[] {
  return [...new Map(seats.map((each) => [each.seat.kind, each])).values()];
}

/** Up to `most` seats that may move, in every combination of kinds, smaller hands first. */
function handsOf<T>(
  seats: readonly Seat<T>[],
  most: number,
  vectorOf: (resources: Resources) => Vector,
  names: readonly string[],
): readonly Hand<T>[] {
  const movable = seats.filter(({ mayMove }) => mayMove).sort((left, right) => (left.kind < right.kind ? -1 : 1));
  const vectors = movable.map(({ requests }) => vectorOf(requests));
  const hands: (Hand<T> & { readonly last: number })[] = [{ seats: [], sum: names.map(() => 0), last: -1 }];
  for (let at = 0; at < hands.length && hands.length < MOST_HANDS; at++) {
    const hand = hands[at];
    if (hand === undefined || hand.seats.length >= most) break;
    for (let next = hand.last + 1; next < movable.length && hands.length < MOST_HANDS; next++) {
      const seat = movable[next];
      const vector = vectors[next];
      // Of interchangeable seats take the first that is not in the set: another gives the same set.
      const isRepeated = next > hand.last + 1 && movable[next - 1]?.kind === seat?.kind;
      if (seat === undefined || vector === undefined || isRepeated) continue;
      const sum = hand.sum.map((amount, index) => amount + (vector[index] ?? 0));
      hands.push({ seats: [...hand.seats, seat], sum, last: next });
    }
  }
  return hands;
}

function total<T>(
  seats: readonly Seat<T>[],
  vectorOf: (resources: Resources) => Vector,
  names: readonly string[],
): Vector {
  const sum = names.map(() => 0);
  for (const { requests } of seats) vectorOf(requests).forEach((amount, at) => (sum[at] = (sum[at] ?? 0) + amount));
  return sum;
}

const minus = (left: Vector, right: Vector): Vector => left.map((amount, at) => amount - (right[at] ?? 0));

const isWithin = (small: Vector, large: Vector): boolean => small.every((amount, at) => amount <= (large[at] ?? 0));
