/**
 * The exact path: places pods one by one on an existing node, a planned node or a new one, and checks every rule for
 * every pod. For pods that packing cannot place because of affinity to other pods or tight limits.
 */
import type { Pod } from '../../api/kinds.ts';
import { takeFromLimits, type CompiledPool } from '../model/compiledPool.ts';
import type { CompiledDemand } from '../model/compiledDemand.ts';
import type { PodClass, Variant } from '../model/podClass.ts';
import { TypeChoice, type PackingOptions } from '../packing/typeChoice.ts';
import { addRow, floatAt, itemAt } from '../rows.ts';
import type { Domains } from './domains.ts';
import type { ExistingPlacement } from './existingPlacement.ts';
import type { Followers } from './followers.ts';
import { NodeCost } from './nodeCost.ts';
import { countOnNode, nodeAllows } from './nodeLimits.ts';
import type { Growth, OpenNode } from './openNode.ts';
import type { PoolFit } from './poolFit.ts';

export type GrowthOf = (podClass: PodClass) => Growth;

/** Tolerance in dollars for equal prices. */
const EPSILON = 1e-9;

/** A place for a pod, and the state of its node with it. */
interface Seat {
  readonly node: OpenNode;
  readonly variant: Variant;
  readonly state: number;
  readonly type: number;
  /** Increase in dollars per hour; for a new node its price. */
  readonly growth: number;
  /** The quantity that the search compares. */
  readonly cost: number;
  readonly limitNeed: Float64Array;
}

export class Sequential {
  private readonly compiled: CompiledDemand;
  private readonly domains: Domains;
  private readonly onExisting: ExistingPlacement;
  private readonly fit: PoolFit;
  private readonly planned: OpenNode[];
  /** By pool: remaining limits; changes as nodes open and grow. */
  private readonly limitLeft: readonly (Float64Array | undefined)[];
  private readonly choices: readonly TypeChoice[];
  private readonly load: Float64Array;
  /** By variant without relations to other pods: planned nodes before this index have refused it for good. */
  private readonly refusedUpTo = new Map<Variant, number>();
  private readonly growthOf: GrowthOf;
  private growth: Growth = 'any';
  private readonly followers: Followers;
  private readonly settlesOffers: boolean;
  private readonly cost: NodeCost;
  /** What nodes may still cost per hour; below zero the remaining pods stay waiting. */
  private dollarsLeft: number;

  constructor(
    compiled: CompiledDemand,
    domains: Domains,
    onExisting: ExistingPlacement,
    fit: PoolFit,
    planned: OpenNode[],
    limitLeft: readonly (Float64Array | undefined)[],
    options: PackingOptions,
    growthOf: GrowthOf,
    followers: Followers,
    settlesOffers: boolean,
    mostDollars: number,
  ) {
    this.dollarsLeft = planned.reduce((left, { price }) => left - price, mostDollars);
    this.growthOf = growthOf;
    this.followers = followers;
    this.settlesOffers = settlesOffers;
    this.compiled = compiled;
    this.domains = domains;
    this.onExisting = onExisting;
    this.fit = fit;
    this.planned = planned;
    this.limitLeft = limitLeft;
    const { states, table, pools } = compiled.model;
    this.load = new Float64Array(table.size);
    this.choices = pools.map((pool) => new TypeChoice(pool, states, table.size, options));
    this.cost = new NodeCost(itemAt(this.choices, 0));
  }

  /** Keeps as many of its preferences as possible. */
  place(podClass: PodClass, pod: Pod): boolean {
    if (this.dollarsLeft < -EPSILON) return false;
    this.growth = this.growthOf(podClass);
    for (const variants of this.fit.variantsOf(podClass)) {
      for (const variant of variants) if (this.onExisting.placeOne(podClass, variant, pod)) return true;
      if (this.join(podClass, variants, pod)) return true;
    }
    return false;
  }

  /** On a planned node or a new one, by the search's growth mode. */
  private join(podClass: PodClass, variants: readonly Variant[], pod: Pod): boolean {
    if (this.growth === 'any' || this.growth === 'room') {
      const seat = this.firstSeat(podClass, variants, Number.POSITIVE_INFINITY) ?? this.newSeat(podClass, variants);
      return this.take(podClass, pod, seat);
    }
    if (this.growth === 'fixed' || this.growth === 'largest') {
      return this.take(podClass, pod, this.firstSeat(podClass, variants, 0) ?? this.newSeat(podClass, variants));
    }
    const fresh = this.newSeat(podClass, variants);
    // If no new node is possible, a planned one may grow by any amount; the smallest increase wins.
    const most = fresh === undefined ? Number.POSITIVE_INFINITY : this.mostGrowth(fresh);
    const seat =
      this.growth === 'least' || fresh === undefined
        ? this.cheapestSeat(podClass, variants, most)
        : this.firstSeat(podClass, variants, most);
    return this.take(podClass, pod, seat ?? fresh);
  }

  /** How much dearer a planned node may become by a pod that could have a new one. */
  private mostGrowth({ growth }: Seat): number {
    if (this.growth === 'none') return 0;
    return growth + itemAt(this.choices, 0).options.nodeOverheadCost;
  }

  private firstSeat(podClass: PodClass, variants: readonly Variant[], mostGrowth: number): Seat | undefined {
    for (const variant of variants) {
      const settles =
        this.growth === 'any' &&
        variant.domain.length === 0 &&
        variant.pinKeys.length === 0 &&
        variant.hostAffinity.length === 0;
      for (let at = settles ? (this.refusedUpTo.get(variant) ?? 0) : 0; at < this.planned.length; at++) {
        const seat = this.seatOn(podClass, variant, itemAt(this.planned, at), mostGrowth);
        if (seat === undefined) continue;
        if (settles) this.refusedUpTo.set(variant, at);
        return this.widestSeat(podClass, variants, seat);
      }
      if (settles) this.refusedUpTo.set(variant, this.planned.length);
    }
    return undefined;
  }

  private cheapestSeat(podClass: PodClass, variants: readonly Variant[], mostGrowth: number): Seat | undefined {
    let best: Seat | undefined;
    let most = mostGrowth;
    for (const variant of variants) {
      for (const node of this.planned) {
        const seat = this.seatOn(podClass, variant, node, most);
        if (seat === undefined || (best !== undefined && seat.growth > best.growth - EPSILON)) continue;
        best = seat;
        most = seat.growth;
      }
    }
    return best && this.widestSeat(podClass, variants, best);
  }

  /** The same place through another alternative, if that keeps the node's choices wider. */
  private widestSeat(podClass: PodClass, variants: readonly Variant[], seat: Seat): Seat {
    if (seat.state === seat.node.state) return seat;
    for (const variant of variants) {
      if (variant === seat.variant) continue;
      const other = this.seatOn(podClass, variant, seat.node, seat.growth);
      if (other?.state === seat.node.state) return other;
    }
    return seat;
  }

  /** On the cheapest new node of the first tier of pools that has one; if possible, one that its followers can join. */
  private newSeat(podClass: PodClass, variants: readonly Variant[]): Seat | undefined {
    for (const { podClass: follower, variant } of this.followers.get(podClass) ?? []) {
      const seat = this.newSeatFrom(podClass, variants, (pool) => this.fit.startsOf(follower, variant, pool));
      if (seat !== undefined) return seat;
    }
    return this.newSeatFrom(podClass, variants, (pool) => [itemAt(this.compiled.bases, pool)]);
  }

  /** `startsOf`: possible initial states of a new node of the pool. */
  private newSeatFrom(
    podClass: PodClass,
    variants: readonly Variant[],
    startsOf: (pool: number) => readonly number[],
  ): Seat | undefined {
    for (const pools of this.fit.tiers) {
      let best: Seat | undefined;
      for (const pool of pools) {
        const starts = startsOf(pool.index);
        for (const variant of variants) {
          for (const start of starts) {
            const seat = this.seatIn(podClass, variant, pool, start);
            if (seat === undefined) continue;
            const isBetter = best === undefined || seat.cost < best.cost;
            if (isBetter || (this.domains.ties === 'last' && seat.cost === best?.cost)) best = seat;
          }
        }
      }
      if (best !== undefined) return best;
    }
    return undefined;
  }

  private seatIn(podClass: PodClass, variant: Variant, pool: CompiledPool, start: number): Seat | undefined {
    if (start < 0 || this.fit.startsOf(podClass, variant, pool.index).length === 0) return undefined;
    const node: OpenNode = {
      pool,
      state: start,
      type: -1,
      price: 0,
      reservation: -1,
      limitNeed: new Float64Array(pool.limitNames.length),
      used: new Float64Array(podClass.row.length),
      entries: [],
      ports: [],
      host: undefined,
    };
    return this.seatOn(podClass, variant, node, Number.POSITIVE_INFINITY);
  }

  /** The node with the pod added; undefined when not allowed or too dear. */
  private seatOn(podClass: PodClass, variant: Variant, node: OpenNode, mostGrowth: number): Seat | undefined {
    const choice = itemAt(this.choices, node.pool.index);
    const { load } = this;
    load.set(node.used);
    addRow(load, podClass.row, 1);
    if (node.reservation >= 0 || !choice.mayHold(node.state, load)) return undefined;
    if (!nodeAllows(this.domains, podClass, variant, node)) return undefined;
    const { states } = this.compiled.model;
    const { cost } = this;
    const { hostPorts } = podClass.shape;
    const ports = hostPorts.length === 0 ? node.ports : [...node.ports, ...hostPorts];
    cost.point(choice, this.growth, load, podClass.row, ports, this.budgetFor(node));
    let best = -1;
    let bestCost = Number.POSITIVE_INFINITY;
    const starts = this.fit.startsOf(podClass, variant, node.pool.index);
    for (let at = 0; at < starts.length; at++) {
      const met = states.meet(node.state, itemAt(starts, at));
      // If the widest state cannot hold the pod, no narrower one can.
      if (met < 0 || !cost.accepts(met)) continue;
      const state = this.domains.pin(variant, met, cost);
      if (state < 0 || cost.dollars(state) - node.price > mostGrowth + EPSILON) continue;
      const own = cost.price(state);
      if (own >= bestCost) continue;
      best = state;
      bestCost = own;
    }
    if (best < 0) return undefined;
    return {
      node,
      variant,
      state: best,
      type: cost.typeIn(best),
      growth: cost.dollars(best) - node.price,
      cost: bestCost,
      limitNeed: cost.limitNeed(best),
    };
  }

  private take(podClass: PodClass, pod: Pod, seat: Seat | undefined): boolean {
    if (seat === undefined) return false;
    const { node, variant, type, growth, limitNeed } = seat;
    const isNew = node.entries.length === 0;
    const state = isNew && this.settlesOffers ? this.settled(seat, podClass) : seat.state;
    this.dollarsLeft -= growth;
    if (isNew) this.planned.push(node);
    takeFromLimits(this.limitLeft, node.pool, node.limitNeed, 1);
    takeFromLimits(this.limitLeft, node.pool, limitNeed);
    node.limitNeed = limitNeed;
    this.commit(podClass, variant, pod, node, state, type);
    return true;
  }

  /** The state of a new node in the zone and of the capacity type in which its type is cheapest. */
  private settled({ node, state, type }: Seat, { row, shape }: PodClass): number {
    const { states } = this.compiled.model;
    const { price, offerings } = states.at(state);
    const cheapest = offerings.find((each) => each.type === type && each.offering.price === price[type]);
    if (cheapest === undefined) return state;
    const narrowed = states.narrow(state, states.requirementId(cheapest.offering.requirements));
    const choice = itemAt(this.choices, node.pool.index);
    const isHeld = narrowed >= 0 && choice.cheapestHolding(narrowed, row, shape.hostPorts, this.budgetFor(node)) >= 0;
    return isHeld ? narrowed : state;
  }

  /** Changes every node to the cheapest type that holds its pods, and returns the difference to the limits. */
  shrink(): void {
    for (const node of this.planned) {
      if (node.reservation >= 0) continue;
      const { pool, state, used, ports } = node;
      const choice = itemAt(this.choices, pool.index);
      const budget = this.budgetFor(node);
      const type = choice.cheapestHolding(state, used, ports, budget);
      if (type < 0 || type === node.type) continue;
      takeFromLimits(this.limitLeft, pool, node.limitNeed, 1);
      node.type = type;
      node.price = floatAt(this.compiled.model.states.at(state).price, type);
      node.limitNeed = choice.limitNeed(state, type, used, ports, budget);
      takeFromLimits(this.limitLeft, pool, node.limitNeed);
    }
  }

  /** What the pool's limits leave for this node: the rest plus the node's current usage. */
  private budgetFor(node: OpenNode): Float64Array | undefined {
    const left = this.limitLeft[node.pool.index];
    return left?.map((amount, at) => amount + floatAt(node.limitNeed, at));
  }

  private commit(podClass: PodClass, variant: Variant, pod: Pod, node: OpenNode, state: number, type: number): void {
    node.state = state;
    node.type = type;
    node.price = floatAt(this.compiled.model.states.at(state).price, type);
    addRow(node.used, podClass.row, 1);
    node.ports.push(...podClass.shape.hostPorts);
    node.entries.push({ podClass, variant, pods: [pod] });
    countOnNode(this.domains, podClass, variant, node);
    this.domains.recordInState(podClass, variant, state, 1, node);
  }
}
