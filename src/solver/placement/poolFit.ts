/** Whether a class may go to new nodes of a pool, and in which state. Computed once per class, variant and pool. */
import { untoleratedTaints } from '../../pods/taints.ts';
import { hostPortsClash } from '../../pods/hostPorts.ts';
import type { CompiledPool } from '../model/compiledPool.ts';
import { isPreferred } from '../model/nodeKinds.ts';
import type { CompiledDemand } from '../model/compiledDemand.ts';
import type { PodClass, Variant } from '../model/podClass.ts';
import { floatAt, intAt, itemAt, Rows } from '../rows.ts';

/** Cost of a node in a state that holds the pod. */
export interface StateCost {
  accepts(state: number): boolean;
  price(state: number): number;
}

/** The first tier of pools that has an instance type for the pod, and the least price there. */
interface Cost {
  readonly tier: number;
  readonly price: number;
}

const NOWHERE: Cost = { tier: Number.MAX_SAFE_INTEGER, price: 0 };

export class PoolFit {
  private readonly compiled: CompiledDemand;
  private readonly known = new Map<Variant, (readonly number[])[]>();
  private readonly accepted: (boolean | undefined)[][] = [];
  private readonly prices: (number | undefined)[][] = [];
  private readonly costs: (StateCost | undefined)[] = [];
  private readonly ordered: ((readonly Variant[])[] | undefined)[] = [];
  /** Pools grouped by weight, most preferred first; within a tier the price decides. */
  readonly tiers: readonly (readonly CompiledPool[])[];

  constructor(compiled: CompiledDemand) {
    this.compiled = compiled;
    this.tiers = tiersOf(compiled.model.pools);
  }

  /** Initial states of the pool's nodes for the pod: one per possible volume alternative. */
  startsOf(podClass: PodClass, variant: Variant, pool: number): readonly number[] {
    let byPool = this.known.get(variant);
    if (byPool === undefined) {
      byPool = [];
      this.known.set(variant, byPool);
    }
    return (byPool[pool] ??= this.find(podClass, variant, pool));
  }

  /** The widest state that contains every placement of the pod: without narrowing that is a choice. */
  widest({ shape }: PodClass, variant: Variant, pool: number): number {
    const { states } = this.compiled.model;
    // With several volume alternatives the pool's own state is wide enough for all.
    const [volumes, ...others] = shape.volumes?.alternatives ?? [];
    const base = states.narrow(states.base(pool), variant.requirementId);
    return volumes === undefined || others.length > 0 ? base : states.narrow(base, states.requirementId(volumes));
  }

  /** Whether some node of the state holds the pod alone. */
  accepts(podClass: PodClass, state: number): boolean {
    const row = (this.accepted[podClass.id] ??= []);
    const known = row[state];
    if (known !== undefined) return known;
    const { states } = this.compiled.model;
    const { pool, types, reserved } = states.at(state);
    let answer = false;
    for (let at = states.firstLargeEnough(state, podClass.row); at < types.length && !answer; at++) {
      answer = holds(pool, intAt(types, at), podClass);
    }
    answer ||= reserved.some(({ type }) => holds(pool, type, podClass));
    row[state] = answer;
    return answer;
  }

  /**
   * The class's variants in the order to try them. Those of the first group differ only in the alternative of the
   * required node affinity: any may join an existing node, and the cheapest opens a new one.
   */
  variantsOf(podClass: PodClass): readonly (readonly Variant[])[] {
    return (this.ordered[podClass.id] ??= this.order(podClass));
  }

  private order(podClass: PodClass): (readonly Variant[])[] {
    const { variants, shape } = podClass;
    const alternatives = Math.max(1, shape.terms.length);
    const first = variants.slice(0, alternatives);
    if (first.length > 1) {
      const cost = new Map(first.map((variant) => [variant, this.firstCost(podClass, variant)]));
      const costOf = (variant: Variant): Cost => cost.get(variant) ?? NOWHERE;
      first.sort((left, right) => costOf(left).tier - costOf(right).tier || costOf(left).price - costOf(right).price);
    }
    return [first, ...variants.slice(alternatives).map((variant) => [variant])];
  }

  private firstCost(podClass: PodClass, variant: Variant): Cost {
    for (const [tier, pools] of this.tiers.entries()) {
      const starts = pools.flatMap(({ index }) => this.startsOf(podClass, variant, index));
      if (starts.length === 0) continue;
      return { tier, price: Math.min(...starts.map((state) => this.sharePrice(podClass, state))) };
    }
    return NOWHERE;
  }

  /** Cost of a pod of the class in a state: its cheapest share of an instance type that holds it. */
  costOf(podClass: PodClass): StateCost {
    return (this.costs[podClass.id] ??= {
      accepts: (state) => this.accepts(podClass, state),
      price: (state) => this.sharePrice(podClass, state),
    });
  }

  /** The least value of: price of an instance type × share that the pod takes of its scarcest resource. */
  private sharePrice(podClass: PodClass, state: number): number {
    const row = (this.prices[podClass.id] ??= []);
    const known = row[state];
    if (known !== undefined) return known;
    const { states, table } = this.compiled.model;
    const { pool, types, price } = states.at(state);
    const room = new Rows(table.size, pool.room);
    let least = Number.POSITIVE_INFINITY;
    for (let at = states.firstLargeEnough(state, podClass.row); at < types.length; at++) {
      const type = intAt(types, at);
      if (room.holds(type, podClass.row)) {
        least = Math.min(least, room.largestShare(type, podClass.row) * floatAt(price, type));
      }
    }
    row[state] = least;
    return least;
  }

  tolerates({ shape }: PodClass, variant: Variant, pool: number): boolean {
    const { taints } = itemAt(this.compiled.model.pools, pool);
    if (taints.length === 0) return true;
    const missing = untoleratedTaints(taints, shape.tolerations);
    return missing.every((taint) => variant.rung.toleratesPreferNoSchedule && isPreferred(taint));
  }

  private find(podClass: PodClass, variant: Variant, pool: number): number[] {
    const { states } = this.compiled.model;
    if (podClass.unknownResource !== undefined || !this.tolerates(podClass, variant, pool)) return [];
    const narrowed = states.narrow(itemAt(this.compiled.bases, pool), variant.requirementId);
    if (narrowed < 0) return [];
    const alternatives = podClass.shape.volumes?.alternatives ?? [];
    const found =
      alternatives.length === 0
        ? [narrowed]
        : alternatives.map((each) => states.narrow(narrowed, states.requirementId(each)));
    return found.filter((state) => state >= 0 && this.accepts(podClass, state));
  }
}

function tiersOf(pools: readonly CompiledPool[]): CompiledPool[][] {
  const tiers: CompiledPool[][] = [];
  for (const pool of pools) {
    const last = tiers.at(-1);
    if (last?.[0]?.weight === pool.weight) last.push(pool);
    else tiers.push([pool]);
  }
  return tiers;
}

/** How many preferences a variant drops; alternatives of the required node affinity do not count. */
export function stepsDown({ variants, shape }: PodClass, variant: Variant): number {
  const alternatives = Math.max(1, shape.terms.length);
  const at = variants.indexOf(variant);
  // The last variants repeat the one without preferences with the other alternatives.
  const barest = variants.length - (variants.length > alternatives ? alternatives - 1 : 0) - 1;
  return at < alternatives ? 0 : Math.min(at, barest) - alternatives + 1;
}

function holds(pool: CompiledPool, type: number, { row, shape }: PodClass): boolean {
  if (!new Rows(row.length, pool.room).holds(type, row)) return false;
  const { hostPorts } = shape;
  if (hostPorts.length === 0) return true;
  return !itemAt(pool.daemonPorts, type).some((taken) => hostPorts.some((port) => hostPortsClash(port, taken)));
}
