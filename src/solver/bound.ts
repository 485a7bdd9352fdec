/**
 * What nobody can beat. In: the pods on new machines; out: a price that every plan for them pays at least, and where
 * the rest of the money goes. Weak duality of the covering LP, per set of pods that share no type with the others.
 */
import type { PlannedNode } from './placement/plannedNode.ts';
import type { PoolFit } from './placement/poolFit.ts';
import type { Question } from './model/question.ts';
import { Demand, type Atom } from './packing/demand.ts';
import { shadowPrices } from './packing/coveringDuals.ts';
import { patternPlan } from './packing/patterns.ts';
import type { GapPart, LowerBound } from './problem.ts';

const RELAXATION =
  'Fractional covering of cpu, memory, pod slots and other resources per pool and per set of pods that share instance ' +
  'types, with as many machines as limits per node force; with few kinds of pods, of whole fillings (pattern LP). ' +
  'Pods or machines may be cut into pieces, and spread, affinity, ports and minValues are left out. Holds for the same pods on new machines of the same pools with the same wishes granted.';

/** So near that a better bound would tell nothing new. */
const GOOD_ENOUGH = 1.002;

export function lowerBound(question: Question, fit: PoolFit, planned: readonly PlannedNode[]): LowerBound {
  let bound = 0;
  let unused = 0;
  let dearer = 0;
  let price = 0;
  for (const pool of question.model.pools) {
    const nodes = planned.filter((node) => node.pool === pool);
    for (const node of nodes) price += node.price;
    // Reserved machines are almost free; where there are some nothing is claimed.
    if (nodes.length === 0 || pool.reservations.length > 0) continue;
    const atoms = atomsOf(nodes, fit, pool.index);
    const parts = components(atoms, question);
    const fractional = parts.map((part) => partBound(question, pool.index, part, false).bound);
    const spent = nodes.reduce((sum, node) => sum + node.price, 0);
    const near = spent <= GOOD_ENOUGH * fractional.reduce((sum, each) => sum + each, 0);
    parts.forEach((part, at) => (bound += near ? fractional[at]! : partBound(question, pool.index, part, true).bound));
    const { duals } = partBound(question, pool.index, atoms, false);
    for (const node of nodes) {
      let capacity = 0;
      let used = 0;
      for (let column = 0; column < node.used.length; column++) {
        capacity += duals[column]! * pool.room[node.type * node.used.length + column]!;
        used += duals[column]! * node.used[column]!;
      }
      unused += capacity - used;
      dearer += node.price - capacity;
    }
  }
  const parts: GapPart[] = [
    { cause: 'unused-capacity', pricePerHour: unused },
    { cause: 'dearer-types', pricePerHour: dearer },
    { cause: 'constraints', pricePerHour: price - bound - unused - dearer },
  ];
  return {
    pricePerHour: bound,
    relaxation: RELAXATION,
    gap: parts.filter(({ pricePerHour }) => Math.abs(pricePerHour) > 1e-9),
  };
}

/** Atoms in the state that they would start in: where our plan put them is not what everyone must do. */
function atomsOf(nodes: readonly PlannedNode[], fit: PoolFit, pool: number): Atom[] {
  const atoms = new Map<string, Atom>();
  for (const { entries } of nodes) {
    for (const { podClass, variant, pods } of entries) {
      const key = `${podClass.id}/${podClass.variants.indexOf(variant)}`;
      const known = atoms.get(key);
      if (known !== undefined) known.count += pods.length;
      else {
        const [state] = fit.startsOf(podClass, variant, pool);
        // Several volume alternatives: the pool's own state is the relaxation of them all.
        const starts = fit.startsOf(podClass, variant, pool).length;
        atoms.set(key, { podClass, variant, state: starts === 1 ? state! : fit.base(pool), count: pods.length });
      }
    }
  }
  return [...atoms.values()];
}

/** Sets of atoms such that no two sets have a type in common. */
function components(atoms: readonly Atom[], question: Question): Atom[][] {
  const { states } = question.model;
  const owner = new Map<number, number>();
  const parent: number[] = [];
  const root = (at: number): number => (parent[at] === at ? at : (parent[at] = root(parent[at]!)));
  const groupOfState = new Map<number, number>();
  for (const { state } of atoms) {
    if (groupOfState.has(state)) continue;
    const group = parent.push(parent.length) - 1;
    groupOfState.set(state, group);
    for (const { type } of states.at(state).offerings) {
      const other = owner.get(type);
      if (other === undefined) owner.set(type, group);
      else parent[root(other)] = root(group);
    }
  }
  const parts = new Map<number, Atom[]>();
  for (const atom of atoms) {
    const at = root(groupOfState.get(atom.state)!);
    const known = parts.get(at);
    if (known === undefined) parts.set(at, [atom]);
    else known.push(atom);
  }
  return [...parts.values()];
}

function partBound(
  question: Question,
  pool: number,
  atoms: readonly Atom[],
  whole: boolean,
): { bound: number; duals: Float64Array } {
  const { states, table, pools } = question.model;
  const options = { nodeOverheadCost: 0, maxPodsPerNode: Number.POSITIVE_INFINITY, strictMinValues: false };
  const demand = new Demand(pools[pool]!, states, atoms, table.size, options);
  const columns = table.size;
  const need = new Float64Array(columns + 1);
  let dearest = 0;
  for (const { podClass, count, state } of atoms) {
    for (let column = 0; column < columns; column++) need[column]! += count * podClass.row[column]!;
    const type = demand.cheapestHolding(state, podClass.row, [], undefined);
    if (type >= 0) dearest = Math.max(dearest, states.at(state).price[type]!);
  }
  need[columns] = Math.ceil(demand.nodesForced().nodes - 1e-9);
  const best = demand.bestPrices();
  const types = [...best.keys()].filter((type) => best[type]! < Number.POSITIVE_INFINITY);
  const supply = new Float64Array(types.length * (columns + 1));
  types.forEach((type, row) => {
    supply.set(pools[pool]!.room.subarray(type * columns, (type + 1) * columns), row * (columns + 1));
    supply[row * (columns + 1) + columns] = 1;
  });
  const price = Float64Array.from(types, (type) => best[type]!);
  const { bound, duals } = shadowPrices({ demand: need, supply, price });
  // At least the machine for the most demanding pod must be bought, and few kinds of pods allow a better bound.
  return { bound: Math.max(bound, dearest, whole ? (patternPlan(demand)?.bound ?? 0) : 0), duals };
}
