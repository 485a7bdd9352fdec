/**
 * The exact path: pods one after the other, each on an existing node, a planned node or a new one, with every rule
 * checked for every pod. For pods that packing cannot place, because of affinity to other pods or tight limits.
 */
import type { Pod } from '../../api/kinds.ts';
import { hostPortsClash } from '../../pods/hostPorts.ts';
import { UNLIMITED } from '../model/hostCounts.ts';
import type { PodClass, CompiledDemand, Variant } from '../model/compiledDemand.ts';
import { TypeChoice, type PackingOptions } from '../packing/typeChoice.ts';
import { addRow, floatAt, itemAt } from '../rows.ts';
import type { Domains } from './domains.ts';
import type { ExistingRooms } from './existingRooms.ts';
import type { OpenNode } from './openNode.ts';
import type { PoolFit } from './poolFit.ts';

export class Sequential {
  private readonly compiled: CompiledDemand;
  private readonly domains: Domains;
  private readonly rooms: ExistingRooms;
  private readonly fit: PoolFit;
  private readonly planned: OpenNode[];
  /** By pool: what is left of its limits; changed as nodes open and grow. */
  private readonly limitLeft: readonly (Float64Array | undefined)[];
  private readonly choices: readonly TypeChoice[];
  private readonly load: Float64Array;
  /** By class without relations to others: planned nodes before this one have refused it for good. */
  private readonly refusedUpTo = new Map<Variant, number>();
  /** No pod makes a planned node dearer than a node of its own would be, if it can have one. */
  private readonly isThrifty: boolean;

  constructor(
    compiled: CompiledDemand,
    domains: Domains,
    rooms: ExistingRooms,
    fit: PoolFit,
    planned: OpenNode[],
    limitLeft: readonly (Float64Array | undefined)[],
    options: PackingOptions,
    isThrifty: boolean,
  ) {
    this.isThrifty = isThrifty;
    this.compiled = compiled;
    this.domains = domains;
    this.rooms = rooms;
    this.fit = fit;
    this.planned = planned;
    this.limitLeft = limitLeft;
    const { states, table, pools } = compiled.model;
    this.load = new Float64Array(table.size);
    this.choices = pools.map((pool) => new TypeChoice(pool, states, table.size, options));
  }

  /** With as many of its wishes as possible. */
  place(podClass: PodClass, pod: Pod): boolean {
    for (const variants of this.fit.variantsOf(podClass)) {
      for (const variant of variants)
        if (this.join(podClass, variant, pod, this.mostGrowth(podClass, variant))) return true;
      for (const variant of variants) if (this.open(podClass, variant, pod)) return true;
      if (!this.isThrifty) continue;
      for (const variant of variants) if (this.join(podClass, variant, pod, Number.POSITIVE_INFINITY)) return true;
    }
    return false;
  }

  /** How much dearer a planned node may become by the pod: a thrifty search pays no more than for a node of its own. */
  private mostGrowth(podClass: PodClass, variant: Variant): number {
    if (!this.isThrifty) return Number.POSITIVE_INFINITY;
    for (const { index } of this.compiled.model.pools) {
      const prices = this.fit
        .startsOf(podClass, variant, index)
        .map((state) => this.alonePrice(podClass, state, itemAt(this.choices, index)));
      if (prices.length > 0) return Math.min(...prices);
    }
    return Number.POSITIVE_INFINITY;
  }

  private alonePrice({ row, shape }: PodClass, state: number, choice: TypeChoice): number {
    const type = choice.cheapestHolding(state, row, shape.hostPorts, undefined);
    if (type < 0) return Number.POSITIVE_INFINITY;
    return floatAt(choice.states.at(state).price, type) + choice.options.nodeOverheadCost;
  }

  /** Onto an existing or a planned node. */
  private join(podClass: PodClass, variant: Variant, pod: Pod, mostGrowth: number): boolean {
    if (this.rooms.placeOne(podClass, variant, pod)) return true;
    const settles =
      !this.isThrifty &&
      variant.domain.length === 0 &&
      variant.pinKeys.length === 0 &&
      variant.hostAffinity.length === 0;
    for (let at = settles ? (this.refusedUpTo.get(variant) ?? 0) : 0; at < this.planned.length; at++) {
      if (!this.add(podClass, variant, pod, itemAt(this.planned, at), mostGrowth)) continue;
      if (settles) this.refusedUpTo.set(variant, at);
      return true;
    }
    if (settles) this.refusedUpTo.set(variant, this.planned.length);
    return false;
  }

  /** Onto a new node of the first pool that has one. */
  private open(podClass: PodClass, variant: Variant, pod: Pod): boolean {
    for (const pool of this.compiled.model.pools) {
      const base = itemAt(this.compiled.bases, pool.index);
      if (base < 0 || this.fit.startsOf(podClass, variant, pool.index).length === 0) continue;
      const node: OpenNode = {
        pool,
        state: base,
        type: -1,
        price: 0,
        reservation: -1,
        limitNeed: new Float64Array(pool.limitNames.length),
        used: new Float64Array(podClass.row.length),
        entries: [],
        ports: [],
        host: undefined,
      };
      if (!this.add(podClass, variant, pod, node, Number.POSITIVE_INFINITY)) continue;
      this.planned.push(node);
      return true;
    }
    return false;
  }

  private add(podClass: PodClass, variant: Variant, pod: Pod, node: OpenNode, mostGrowth: number): boolean {
    const choice = itemAt(this.choices, node.pool.index);
    const { load } = this;
    load.set(node.used);
    addRow(load, podClass.row, 1);
    if (node.reservation >= 0 || !choice.mayHold(node.state, load)) return false;
    if (!this.hostAllows(podClass, variant, node)) return false;
    const { states } = this.compiled.model;
    for (const start of this.fit.startsOf(podClass, variant, node.pool.index)) {
      const met = states.meet(node.state, start);
      if (met < 0) continue;
      const ports = [...node.ports, ...podClass.shape.hostPorts];
      const budget = this.budgetFor(node);
      // What the widest state cannot hold no narrower one can.
      if (choice.cheapestHolding(met, load, ports, budget) < 0) continue;
      const state = this.domains.pin(variant, met, {
        accepts: (each) => choice.cheapestHolding(each, load, ports, budget) >= 0,
        price: (each) => floatAt(states.at(each).price, choice.cheapestHolding(each, load, ports, budget)),
      });
      if (state < 0) continue;
      const type = choice.cheapestHolding(state, load, ports, budget);
      if (floatAt(states.at(state).price, type) - node.price > mostGrowth + 1e-9) continue;
      const need = choice.limitNeed(state, type, load, ports, budget);
      const left = this.limitLeft[node.pool.index];
      if (left) {
        addRow(left, node.limitNeed, 1);
        addRow(left, need, -1);
      }
      node.limitNeed = need;
      this.commit(podClass, variant, pod, node, state, type);
      return true;
    }
    return false;
  }

  private hostAllows(podClass: PodClass, variant: Variant, node: OpenNode): boolean {
    const host = hostOf(node);
    const of = (counter: number) => host.get(counter) ?? { count: 0, limit: UNLIMITED };
    for (const { counter, max } of variant.hostLimits) if (of(counter).count > max) return false;
    for (const counter of podClass.hostAdds) {
      const own = variant.hostLimits.find((limit) => limit.counter === counter)?.max ?? UNLIMITED;
      if (of(counter).count >= Math.min(own, of(counter).limit)) return false;
    }
    for (const affinity of variant.hostAffinity) {
      if (!this.domains.allowsCompany(affinity, node, of(affinity.counter).count)) return false;
    }
    const { hostPorts } = podClass.shape;
    return !node.ports.some((taken) => hostPorts.some((port) => hostPortsClash(port, taken)));
  }

  /** What the pool's limits leave for this node: the rest, and what the node has already. */
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
    if (node.host !== undefined) recordHost(node.host, podClass, variant, 1);
    this.domains.recordInState(podClass, variant, state, 1, node);
  }
}

type HostCounts = NonNullable<OpenNode['host']>;

function hostOf(node: OpenNode): HostCounts {
  if (node.host === undefined) {
    node.host = new Map();
    for (const { podClass, variant, pods } of node.entries) recordHost(node.host, podClass, variant, pods.length);
  }
  return node.host;
}

function recordHost(host: HostCounts, podClass: PodClass, variant: Variant, pods: number): void {
  const entry = (counter: number): { count: number; limit: number } => {
    const known = host.get(counter) ?? { count: 0, limit: UNLIMITED };
    host.set(counter, known);
    return known;
  };
  for (const counter of podClass.hostAdds) entry(counter).count += pods;
  for (const { counter, othersMax } of variant.hostLimits) {
    entry(counter).limit = Math.min(entry(counter).limit, othersMax);
  }
}
