/**
 * What nobody can beat. In: the pods on new machines; out: a price that every plan for them pays at least, and where
 * the rest of the money goes. Weak duality of the covering LP, per set of pods that share no type with the others.
 */
import type { OpenNode } from './placement/openNode.ts';
import type { PoolFit } from './placement/poolFit.ts';
import type { CompiledDemand, Variant } from './model/compiledDemand.ts';
import type { Atom } from './packing/atom.ts';
import { covering, Demand, type PackingOptions } from './packing/demand.ts';
import { HostRules } from './packing/hostRules.ts';
import { shadowPrices } from './packing/coveringDuals.ts';
import { MAX_PATTERN_ATOMS, patternPlan } from './packing/patterns.ts';
import type { GapPart, LowerBound } from './problem.ts';

const RELAXATION =
  'Fractional covering of cpu, memory, pod slots and other resources per pool and per set of pods that share instance ' +
  'types, with as many machines as limits per node force; with few kinds of pods, of whole fillings (pattern LP). ' +
  'Pods or machines may be cut into pieces, and spread, affinity, ports and minValues are left out. Holds for the same pods on new machines of the same pools with the same wishes granted.';

const FREE: PackingOptions = {
  nodeOverheadCost: 0,
  maxPodsPerNode: Number.POSITIVE_INFINITY,
  strictMinValues: false,
};

/** So near that a better bound would tell nothing new. */
const GOOD_ENOUGH = 1.002;

export function lowerBound(compiled: CompiledDemand, fit: PoolFit, planned: readonly OpenNode[]): LowerBound {
  let bound = 0;
  let unused = 0;
  let dearer = 0;
  let price = 0;
  for (const pool of compiled.model.pools) {
    const nodes = planned.filter((node) => node.pool === pool);
    let spent = 0;
    for (const node of nodes) spent += node.price;
    price += spent;
    // Reserved machines are almost free; where there are some nothing is claimed.
    if (nodes.length === 0 || pool.reservations.length > 0) continue;
    const atoms = atomsOf(nodes, fit, pool.index);
    const parts = components(atoms, compiled, pool.types.length);
    const fractional = parts.map((part) => fractionalBound(compiled, pool.index, part));
    const near = spent <= GOOD_ENOUGH * fractional.reduce((sum, each) => sum + each.bound, 0);
    parts.forEach((part, at) => {
      const whole = near ? 0 : patternBound(compiled, pool.index, part);
      bound += Math.max(fractional[at]!.bound, whole);
    });
    const { duals } = parts.length === 1 ? fractional[0]! : fractionalBound(compiled, pool.index, atoms);
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
  return { pricePerHour: bound, relaxation: RELAXATION, gap: gapOf(price - bound, { unused, dearer }) };
}

/** Shadow prices tell parts of the way from the fractional bound; a stronger bound has gone some of that way itself. */
function gapOf(gap: number, { unused, dearer }: { unused: number; dearer: number }): GapPart[] {
  const constraints = Math.max(0, gap - unused - dearer);
  const dearerTypes = Math.min(dearer, Math.max(0, gap - constraints));
  const parts: GapPart[] = [
    { cause: 'unused-capacity', pricePerHour: gap - constraints - dearerTypes },
    { cause: 'dearer-types', pricePerHour: dearerTypes },
    { cause: 'constraints', pricePerHour: constraints },
  ];
  return parts.filter(({ pricePerHour }) => pricePerHour > 1e-9);
}

/** Atoms in the state that they would start in: where our plan put them is not what everyone must do. */
function atomsOf(nodes: readonly OpenNode[], fit: PoolFit, pool: number): Atom[] {
  const atoms = new Map<Variant, Atom>();
  for (const { entries } of nodes) {
    for (const { podClass, variant, pods } of entries) {
      const known = atoms.get(variant);
      if (known !== undefined) {
        known.count += pods.length;
        continue;
      }
      const state = fit.widest(podClass, variant, pool);
      atoms.set(variant, { podClass, variant, state, count: pods.length });
    }
  }
  return [...atoms.values()];
}

/** Sets of atoms such that no two sets have a type in common. */
function components(atoms: readonly Atom[], compiled: CompiledDemand, types: number): Atom[][] {
  const { states } = compiled.model;
  const byState = new Map<number, Atom[]>();
  for (const atom of atoms) {
    const known = byState.get(atom.state);
    if (known === undefined) byState.set(atom.state, [atom]);
    else known.push(atom);
  }
  if (byState.size === 1) return [[...atoms]];
  const owner = new Int32Array(types).fill(-1);
  const parent: number[] = [];
  const root = (at: number): number => (parent[at] === at ? at : (parent[at] = root(parent[at]!)));
  for (const state of byState.keys()) {
    const group = parent.push(parent.length) - 1;
    for (const { type } of states.at(state).offerings) {
      const other = owner[type]!;
      if (other < 0) owner[type] = group;
      else parent[root(other)] = root(group);
    }
  }
  const parts = new Map<number, Atom[]>();
  [...byState.values()].forEach((members, group) => {
    const known = parts.get(root(group));
    if (known === undefined) parts.set(root(group), members);
    else for (const atom of members) known.push(atom);
  });
  return [...parts.values()];
}

function fractionalBound(
  compiled: CompiledDemand,
  pool: number,
  atoms: readonly Atom[],
): { bound: number; duals: Float64Array } {
  const { states, table, pools } = compiled.model;
  const nodes = Math.ceil(new HostRules(atoms).nodesForced - 1e-9);
  const { bound, duals } = shadowPrices(covering(pools[pool]!, states, atoms, table.size, nodes, 0));
  const holder = new Demand(pools[pool]!, states, [], table.size, FREE);
  let dearest = 0;
  for (const { podClass, state } of atoms) {
    const type = holder.cheapestHolding(state, podClass.row, [], undefined);
    if (type >= 0) dearest = Math.max(dearest, states.at(state).price[type]!);
  }
  // At least the machine for the most demanding pod must be bought.
  return { bound: Math.max(bound, dearest), duals };
}

/** Few kinds of pods allow a better bound. */
function patternBound(compiled: CompiledDemand, pool: number, atoms: readonly Atom[]): number {
  if (atoms.length > MAX_PATTERN_ATOMS) return 0;
  const { states, table, pools } = compiled.model;
  return patternPlan(new Demand(pools[pool]!, states, atoms, table.size, FREE))?.bound ?? 0;
}
