/**
 * Lower bound on the price of every plan for the pods on new nodes, and the parts of the gap to it. Uses weak duality
 * of the covering LP, for each set of pods that shares no offering with the others.
 */
import type { OpenNode } from './placement/openNode.ts';
import type { PoolFit } from './placement/poolFit.ts';
import type { CompiledDemand } from './model/compiledDemand.ts';
import type { CompiledOffering } from './model/compiledPool.ts';
import type { Variant } from './model/podClass.ts';
import { coveringDuals } from './packing/coveringDuals.ts';
import { coveringOf, demandOf, forcedCost } from './packing/demand.ts';
import { hostRules } from './packing/hostRules.ts';
import type { Item } from './packing/item.ts';
import { MAX_PATTERN_ITEMS, patternPlan } from './packing/patterns.ts';
import { TypeChoice, type PackingOptions } from './packing/typeChoice.ts';
import type { BoundProof, GapPart, LowerBound } from './problem.ts';
import { floatAt, itemAt, Rows } from './rows.ts';

const FREE: PackingOptions = {
  nodeOverheadCost: 0,
  maxPodsPerNode: Number.POSITIVE_INFINITY,
  strictMinValues: false,
};

/** Within this factor of the price, a better bound adds no information. */
const GOOD_ENOUGH = 1.002;

/** Compensates for rounding in sums of prices. */
const SAFETY = 1 - 1e-12;

/** Result when nothing is proven. */
export const NO_BOUND: LowerBound = { pricePerHour: 0, proof: 'none', gap: [] };

export function lowerBound(compiled: CompiledDemand, fit: PoolFit, planned: readonly OpenNode[]): LowerBound {
  let bound = 0;
  let unused = 0;
  let dearer = 0;
  let price = 0;
  let proof: BoundProof = 'none';
  for (const pool of compiled.model.pools) {
    const nodes = planned.filter((node) => node.pool === pool);
    let spent = 0;
    for (const node of nodes) spent += node.price;
    price += spent;
    // No bound with reservations (reserved capacity is almost free) or when another part of the pool may be cheaper.
    if (nodes.length === 0 || pool.reservations.length > 0 || compiled.model.isPart(pool)) continue;
    const items = itemsOf(nodes, fit, pool.index);
    const parts = components(items, compiled);
    const fractional = parts.map((part) => fractionalBound(compiled, pool.index, part));
    const near = spent <= GOOD_ENOUGH * fractional.reduce((sum, each) => sum + each.bound, 0);
    if (proof === 'none') proof = 'fractional-covering';
    for (const [at, part] of parts.entries()) {
      const cut = itemAt(fractional, at).bound;
      const whole = near ? 0 : patternBound(compiled, pool.index, part);
      if (whole > cut) proof = 'whole-fillings';
      bound += Math.max(cut, whole);
    }
    const { duals } = parts.length === 1 ? itemAt(fractional, 0) : fractionalBound(compiled, pool.index, items);
    const room = new Rows(compiled.model.table.size, pool.room);
    for (const node of nodes) {
      const capacity = room.valueOf(node.type, duals);
      const used = node.used.reduce((sum, amount, column) => sum + floatAt(duals, column) * amount, 0);
      unused += capacity - used;
      dearer += node.price - capacity;
    }
  }
  return { pricePerHour: bound, proof, gap: gapOf(price - bound, { unused, dearer }) };
}

/**
 * Dual prices explain the gap to the fractional bound. A stronger bound closes part of that gap, so scale the parts
 * down.
 */
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

/** Items in the widest state of their pods: another plan may choose other domains than this one. */
function itemsOf(nodes: readonly OpenNode[], fit: PoolFit, pool: number): Item[] {
  const items = new Map<Variant, Item>();
  for (const { entries } of nodes) {
    for (const { podClass, variant, pods } of entries) {
      const known = items.get(variant);
      if (known !== undefined) {
        known.count += pods.length;
        continue;
      }
      const state = fit.widest(podClass, variant, pool);
      items.set(variant, { podClass, variant, state, count: pods.length });
    }
  }
  return [...items.values()];
}

/** Sets of items such that no two sets have an offering in common. Zone and capacity type are part of an offering. */
function components(items: readonly Item[], compiled: CompiledDemand): Item[][] {
  const { states } = compiled.model;
  const byState = new Map<number, Item[]>();
  for (const item of items) {
    const known = byState.get(item.state);
    if (known === undefined) byState.set(item.state, [item]);
    else known.push(item);
  }
  if (byState.size === 1) return [[...items]];
  const owner = new Map<CompiledOffering, number>();
  const parent: number[] = [];
  const root = (at: number): number => (parent[at] === at ? at : (parent[at] = root(itemAt(parent, at))));
  for (const state of byState.keys()) {
    const group = parent.push(parent.length) - 1;
    for (const offering of states.at(state).offerings) {
      const other = owner.get(offering);
      if (other === undefined) owner.set(offering, group);
      else parent[root(other)] = root(group);
    }
  }
  const parts = new Map<number, Item[]>();
  [...byState.values()].forEach((members, group) => {
    const known = parts.get(root(group));
    if (known === undefined) parts.set(root(group), members);
    else for (const item of members) known.push(item);
  });
  return [...parts.values()];
}

function fractionalBound(
  compiled: CompiledDemand,
  pool: number,
  items: readonly Item[],
): { bound: number; duals: Float64Array } {
  const { states, table, pools } = compiled.model;
  const host = hostRules(items);
  const nodes = Math.ceil(host.nodesForced - 1e-9);
  const choice = new TypeChoice(itemAt(pools, pool), states, table.size, FREE);
  const { bound, duals } = coveringDuals(coveringOf(choice, items, nodes, 0));
  let dearest = 0;
  for (const { podClass, state } of items) {
    const type = choice.cheapestHolding(state, podClass.row, [], undefined);
    if (type >= 0) dearest = Math.max(dearest, floatAt(states.at(state).price, type));
  }
  // At least the cheapest node for the most demanding pod must be bought.
  return { bound: Math.max(bound, dearest, forcedCost(items, host, choice) * SAFETY), duals };
}

/** A better bound, possible only with few kinds of pods. */
function patternBound(compiled: CompiledDemand, pool: number, items: readonly Item[]): number {
  if (items.length > MAX_PATTERN_ITEMS) return 0;
  const { states, table, pools } = compiled.model;
  return patternPlan(demandOf(itemAt(pools, pool), states, items, table.size, FREE))?.bound ?? 0;
}
