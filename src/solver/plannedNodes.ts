/** Planned nodes as the caller gets them: plain data with ranked alternatives, requests and the reasons for the choice. */
import { Labels } from '../api/labels.ts';
import { Requirement, type RequirementItem } from '../constraints/requirement.ts';
import { podKey } from '../pods/podKey.ts';
import type { Quantity } from '../units/quantity.ts';
import {
  addResources,
  formatResources,
  multiplyResources,
  noResources,
  quantityOf,
  type Resources,
} from '../units/resources.ts';
import type { CompiledOffering } from './model/compiledPool.ts';
import type { StateTable } from './model/stateTable.ts';
import { explainChoice, type TypeReasons } from './nodeChoice.ts';
import type { TypeChoice } from './packing/typeChoice.ts';
import type { OpenNode } from './placement/openNode.ts';
import { holderOf, type PodPlan } from './planOnce.ts';
import type { PlannedNode } from './problem.ts';
import { RankedAlternatives, type Ranking } from './rankedAlternatives.ts';

/** What is left of a pool's limits goes to alternatives that need more than the first, in the order of the nodes. */
export function plannedNodes(plan: PodPlan, explainChoices: boolean): PlannedNode[] {
  const { states } = plan.model;
  const pools = plan.model.pools.map((pool) => {
    const demand = holderOf(plan, pool);
    return {
      demand,
      ranked: new RankedAlternatives(demand),
      reasons: new Map<string, TypeReasons>(),
      slack: plan.limitLeft[pool.index]?.slice(),
    };
  });
  const zones = new ZoneBalance(states);
  const requirements = new RequirementLists(states);
  const requests = new RequestTexts();
  return plan.planned.map((node): PlannedNode => {
    const own = pools[node.pool.index];
    if (own === undefined) throw new RangeError(`no pool has index ${node.pool.index}`);
    const budget = limitBudget(node, own.slack, own.demand);
    const podsKey = podsKeyOf(node);
    const ranking = own.ranked.of(node, podsKey, budget, zones.take(node));
    const { items, isRelaxed } = requirements.of(node, own.demand, budget);
    const pods: string[] = [];
    for (const entry of node.entries) for (const pod of entry.pods) pods.push(podKey(pod));
    return {
      pool: node.pool.name,
      requirements: items,
      pods,
      requests: requests.of(node, podsKey, ranking),
      alternatives: ranking.alternatives,
      minValuesRelaxed: isRelaxed,
      ...(explainChoices && { choice: explainChoice(node, plan.compiled, own.demand, podsKey, own.reasons) }),
    };
  });
}

/** Chooses, among zones of equal price, the one with fewest planned nodes. */
class ZoneBalance {
  private readonly states: StateTable;
  private readonly nodesIn = new Map<string, number>();
  private readonly zonesOf = new Map<number, readonly string[]>();

  constructor(states: StateTable) {
    this.states = states;
  }

  take(node: OpenNode): string {
    const key = node.state * node.pool.types.length + node.type;
    let zones = this.zonesOf.get(key);
    if (zones === undefined) {
      zones = this.cheapestZones(node);
      this.zonesOf.set(key, zones);
    }
    let [first = ''] = zones;
    for (const zone of zones) if (this.count(zone) < this.count(first)) first = zone;
    this.nodesIn.set(first, this.count(first) + 1);
    return first;
  }

  private count(zone: string): number {
    return this.nodesIn.get(zone) ?? 0;
  }

  /** A zone is preferred to none at the same price. */
  private cheapestZones({ state, type, price, pool }: OpenNode): string[] {
    const { offerings } = this.states.at(state);
    const zones: string[] = [];
    for (let at = firstAtPrice(offerings, price); offerings[at]?.offering.price === price; at++) {
      const each = offerings[at];
      if (each?.type === type) zones.push(each.offering.zone);
    }
    const zonal = zones.filter((zone) => !pool.regionalZones.has(zone));
    return (zonal.length > 0 ? zonal : zones).sort();
  }
}

/** Requirement items by state. Where minValues are relaxed, what is offered takes the place of what was asked. */
class RequirementLists {
  private readonly states: StateTable;
  private readonly known = new Map<string, readonly RequirementItem[]>();

  constructor(states: StateTable) {
    this.states = states;
  }

  of(
    node: OpenNode,
    demand: TypeChoice,
    budget: Float64Array | undefined,
  ): { items: readonly RequirementItem[]; isRelaxed: boolean } {
    const { requirements, minValues } = this.states.at(node.state);
    const offered = minValues.length === 0 ? [] : demand.minValuesOffered(node.state, node.used, node.ports, budget);
    const short = offered.filter(({ atLeast, offered: values }) => values < atLeast);
    const isReserved = node.reservation >= 0;
    const key = `${node.state}/${isReserved}/${short.map((each) => `${each.key}=${each.offered}`).join()}`;
    let items = this.known.get(key);
    if (items === undefined) {
      const loosened = short.reduce(
        (sum, each) => sum.replace(sum.get(each.key).withMinValues(each.offered)),
        requirements,
      );
      const own = isReserved ? loosened.replace(Requirement.of(Labels.capacityType, 'In', ['reserved'])) : loosened;
      items = own.toItems();
      this.known.set(key, items);
    }
    return { items, isRelaxed: short.length > 0 };
  }
}

/** Requests of the pods, and of the daemons that come with every alternative; the same for nodes of the same pods. */
class RequestTexts {
  private readonly known = new Map<Ranking, Map<string, Readonly<Record<string, string>>>>();
  private readonly daemons = new Map<Ranking, Resources>();

  of({ entries, pool }: OpenNode, podsKey: string, ranking: Ranking): Readonly<Record<string, string>> {
    let byPods = this.known.get(ranking);
    if (byPods === undefined) {
      byPods = new Map();
      this.known.set(ranking, byPods);
      this.daemons.set(ranking, leastOf(ranking.types.map((type) => pool.daemonRequests[type] ?? noResources)));
    }
    let text = byPods.get(podsKey);
    if (text === undefined) {
      const own = entries.map(({ podClass, pods }) => multiplyResources(podClass.shape.requests, pods.length));
      text = formatResources(addResources(...own, this.daemons.get(ranking) ?? noResources));
      byPods.set(podsKey, text);
    }
    return text;
  }
}

/** The same for nodes that hold as many pods of the same classes. */
function podsKeyOf({ entries }: OpenNode): string {
  let key = '';
  for (const { podClass, pods } of entries) key += `${podClass.id}*${pods.length},`;
  return key;
}

/** Offerings are sorted by price. */
function firstAtPrice(offerings: readonly CompiledOffering[], price: number): number {
  let low = 0;
  let high = offerings.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offerings[middle]?.offering.price ?? price) < price) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What the node's alternatives may use of the limits: what the first uses, and the slack. Takes from the slack. */
function limitBudget(node: OpenNode, slack: Float64Array | undefined, demand: TypeChoice): Float64Array | undefined {
  if (slack === undefined) return undefined;
  const { pool, limitNeed: own } = node;
  const width = slack.length;
  const budget = slack.map((amount, at) => Math.max(0, amount) + (own[at] ?? 0));
  const most = own.slice();
  for (let type = 0; type < pool.types.length; type++) {
    if (!demand.fits(type, node.used) || !demand.withinLimits(type, budget)) continue;
    for (let at = 0; at < width; at++) most[at] = Math.max(most[at] ?? 0, pool.limitUse[type * width + at] ?? 0);
  }
  for (let at = 0; at < width; at++) slack[at] = (slack[at] ?? 0) - (most[at] ?? 0) + (own[at] ?? 0);
  return budget;
}

/** What is asked for on every one of them. */
function leastOf(all: readonly Resources[]): Resources {
  const [first, ...others] = [...new Set(all)];
  if (first === undefined) return noResources;
  const entries = Object.keys(first).flatMap((name): [string, Quantity][] => {
    const amounts = [first, ...others].map((each) => quantityOf(each, name));
    const least = amounts.reduce((left, right) => (right.compare(left) < 0 ? right : left));
    return least.isZero() ? [] : [[name, least]];
  });
  return Object.fromEntries(entries);
}
