/** Why a planned node has its instance type: the pod for which a cheaper one was too small, and the next types. */
import { podKey } from '../pods/podKey.ts';
import { amountOf } from './amount.ts';
import type { CompiledDemand } from './model/compiledDemand.ts';
import type { TypeChoice } from './packing/typeChoice.ts';
import type { OpenNode } from './placement/openNode.ts';
import type { MachineState } from './model/stateTable.ts';
import type { CandidateCounts, NodeChoice, RefusalStage, RejectedType } from './reasons.ts';
import { floatAt, intAt, itemAt } from './rows.ts';

const NEXT_TYPES = 3;

/** Shared by all nodes with the same type and the same pods. */
export interface TypeReasons {
  readonly others: readonly RejectedType[];
  /** The resource of which a cheaper type had too little, or -1. */
  readonly column: number;
  readonly candidates: CandidateCounts;
}

/** `known`, by `key`, caches what nodes with the same pods share. */
export function explainChoice(
  node: OpenNode,
  compiled: CompiledDemand,
  demand: TypeChoice,
  key: string,
  known: Map<string, TypeReasons>,
): NodeChoice {
  const own = `${node.state}/${node.type}/${node.price}/${key}`;
  let reasons = known.get(own);
  if (reasons === undefined) {
    reasons = typeReasons(node, compiled, demand);
    known.set(own, reasons);
  }
  const { others, column, candidates } = reasons;
  if (column < 0) return { others, candidates };
  const boundBy = largestIn(node, column);
  const boundByResource = itemAt(compiled.model.table.names, column);
  return { ...(boundBy !== undefined && { boundBy }), boundByResource, others, candidates };
}

function typeReasons(node: OpenNode, compiled: CompiledDemand, demand: TypeChoice): TypeReasons {
  const { states, table } = compiled.model;
  const { price, types } = states.at(node.state);
  const nameOf = (type: number): string => itemAt(node.pool.types, type).name;
  const others: RejectedType[] = [];
  // Types are sorted by price: only those near the node's own price are looked at.
  const own = firstAtLeast(types, price, node.price);
  let nearly = own - 1;
  // The dearest of the cheaper types that are too small.
  while (nearly >= 0 && lackingColumn(node, intAt(types, nearly)) < 0) nearly -= 1;
  const boundColumn = nearly < 0 ? -1 : lackingColumn(node, intAt(types, nearly));
  if (boundColumn >= 0) {
    const type = intAt(types, nearly);
    const missing = floatAt(node.used, boundColumn) - floatAt(node.pool.room, type * table.size + boundColumn);
    const lacks = amountOf(itemAt(table.names, boundColumn), missing);
    others.push({ instanceType: nameOf(type), pricePerHour: floatAt(price, type), because: 'fit', lacks });
  }
  for (let at = own; at < types.length && others.length < NEXT_TYPES; at++) {
    const type = intAt(types, at);
    // A type may be listed several times when quotas split it by capacity type.
    if (nameOf(type) === nameOf(node.type) || !demand.fits(type, node.used)) continue;
    const morePerHour = floatAt(price, type) - node.price;
    others.push({ instanceType: nameOf(type), pricePerHour: floatAt(price, type), because: 'price', morePerHour });
  }
  if (others.length < NEXT_TYPES) {
    const missing = node.pool.types.findIndex(
      (_, type) => price[type] === Number.POSITIVE_INFINITY && demand.fits(type, node.used),
    );
    if (missing >= 0) others.push({ instanceType: nameOf(missing), because: 'availability' });
  }
  return { others, column: boundColumn, candidates: candidatesFor(node, states.at(node.state), demand) };
}

/** Types that meet the requirements, and those of them that can be bought, regardless of pods. */
interface Buyable {
  readonly matching: readonly number[];
  readonly sold: readonly number[];
}
const buyable = new WeakMap<MachineState, Buyable>();

function candidatesFor({ pool, used }: OpenNode, state: MachineState, demand: TypeChoice): CandidateCounts {
  // A type may be listed several times when quotas split it by capacity type.
  const countOf = (types: Iterable<number>): number =>
    new Set(Array.from(types, (type) => itemAt(pool.types, type).name)).size;
  const { matching, sold } = buyableOf(state);
  const offered = countOf(pool.types.keys());
  const stages: readonly (readonly [RefusalStage, readonly number[]])[] = [
    ['instance-types', matching],
    ['offerings', sold],
    ['resources', sold.filter((type) => demand.fits(type, used))],
  ];
  let alive = offered;
  const removed = stages.flatMap(([stage, types]) => {
    const count = alive - countOf(types);
    alive -= count;
    return count === 0 ? [] : [{ stage, count }];
  });
  return { offered, removed };
}

function buyableOf(state: MachineState): Buyable {
  const known = buyable.get(state);
  if (known !== undefined) return known;
  const { pool, requirements, offerings } = state;
  const ofOfferings = new Set(offerings.map(({ type }) => type));
  const matching = [...pool.types.keys()].filter((type) =>
    itemAt(pool.types, type).requirements.intersects(requirements),
  );
  const found = { matching, sold: matching.filter((type) => ofOfferings.has(type)) };
  buyable.set(state, found);
  return found;
}

/** Index of the first type that costs at least as much. */
function firstAtLeast(types: Int32Array, price: Float64Array, least: number): number {
  let low = 0;
  let high = types.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (floatAt(price, intAt(types, middle)) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first resource of which the type has too little, or -1. */
function lackingColumn({ used, pool }: OpenNode, type: number): number {
  for (let column = 0; column < used.length; column++) {
    if (floatAt(used, column) > floatAt(pool.room, type * used.length + column)) return column;
  }
  return -1;
}

function largestIn({ entries }: OpenNode, column: number): string | undefined {
  let [best] = entries;
  for (const entry of entries) {
    if (best === undefined || floatAt(entry.podClass.row, column) > floatAt(best.podClass.row, column)) best = entry;
  }
  const pod = best?.pods[0];
  return pod && podKey(pod);
}
