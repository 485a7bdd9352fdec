/** Instance types worth filling for a node in a state: those with the best value per price, and some of each shape. */
import { CPU, MEMORY, PODS } from '../model/resourceTable.ts';
import { floatAt, type Rows } from '../rows.ts';
import type { TypeChoice } from './typeChoice.ts';

const TYPES_BY_VALUE = 10;
const TYPES_PER_SHAPE = 2;

/** Best value at the dual prices first; `nodeDual`: what a node is worth in addition to its room. */
export function candidateTypes(choice: TypeChoice, state: number, duals: Float64Array, nodeDual: number): Int32Array {
  const { room, states, options } = choice;
  const { price } = states.at(state);
  const ranked = undominated(choice, state)
    .map((type) => ({
      type,
      worth: (nodeDual + room.valueOf(type, duals)) / (floatAt(price, type) + options.nodeOverheadCost + 1e-9),
      shape: Math.round(Math.log2((room.get(type, MEMORY) + 1) / (room.get(type, CPU) + 1))),
    }))
    .sort((left, right) => right.worth - left.worth || left.type - right.type);
  const perShape = new Map<number, number>();
  const chosen = ranked.filter(({ shape }, rank) => {
    const seen = perShape.get(shape) ?? 0;
    perShape.set(shape, seen + 1);
    return rank < TYPES_BY_VALUE || seen < TYPES_PER_SHAPE;
  });
  return Int32Array.from(chosen, ({ type }) => type);
}

/** Types for which there is no cheaper substitute, cheapest first. */
export function undominated(choice: TypeChoice, state: number): readonly number[] {
  const known = choice.undominated.get(state) ?? findUndominated(choice, state);
  choice.undominated.set(state, known);
  return known;
}

function findUndominated({ room, states, columns }: TypeChoice, state: number): number[] {
  const kept: number[] = [];
  const most = new Float64Array(columns).fill(-1);
  for (const type of states.at(state).types) {
    if (room.get(type, PODS) < 1) continue;
    // A type with more of some resource than all before it has no substitute: skip the comparisons.
    let more = false;
    for (let column = 0; column < columns; column++) {
      if (room.get(type, column) <= floatAt(most, column)) continue;
      more = true;
      most[column] = room.get(type, column);
    }
    if (more || !kept.some((other) => dominates(room, other, type))) kept.push(type);
  }
  return kept;
}

function dominates(room: Rows, better: number, worse: number): boolean {
  for (let column = 0; column < room.width; column++) {
    if (room.get(better, column) < room.get(worse, column)) return false;
  }
  return true;
}
