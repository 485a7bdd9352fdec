/**
 * Planned nodes in the form returned to callers: plain data with ranked alternatives, requests and the reasons for the
 * choice.
 */
import { Labels } from '../api/labels.ts';
import { Requirement, type RequirementItem } from '../constraints/requirement.ts';
import { podKey } from '../pods/podKey.ts';
import { takeFromLimits, type CompiledOffering } from './model/compiledPool.ts';
import type { StateTable } from './model/stateTable.ts';
import { explainChoice, type TypeReasons } from './nodeChoice.ts';
import type { TypeChoice } from './packing/typeChoice.ts';
import type { OpenNode } from './placement/openNode.ts';
import { holderOf, type PodPlan } from './planOnce.ts';
import type { PlannedNode } from './problem.ts';
import { RankedAlternatives } from './rankedAlternatives.ts';
import { RequestTexts } from './requestTexts.ts';
import { floatAt, itemAt, Rows } from './rows.ts';

/**
 * Remaining limits go, in the order of the nodes, to alternatives that need more than the first one. With
 * `isOutcomeOnly` each node has only the alternative that the plan assumes.
 */
export function plannedNodes(plan: PodPlan, explainChoices: boolean, isOutcomeOnly: boolean): PlannedNode[] {
  if (plan.planned.length === 0) return [];
  const { states } = plan.model;
  // Shared by the parts of a pool.
  const slacks = new Map<Float64Array, Float64Array>();
  const slackOf = (left: Float64Array | undefined): Float64Array | undefined => {
    if (left === undefined) return undefined;
    const slack = slacks.get(left) ?? left.slice();
    slacks.set(left, slack);
    return slack;
  };
  const slack = plan.limitLeft.map(slackOf);
  const pools = plan.model.pools.map((pool) => {
    const choice = holderOf(plan, pool);
    return {
      choice,
      ranked: new RankedAlternatives(choice),
      reasons: new Map<string, TypeReasons>(),
    };
  });
  const zones = new ZoneBalance(states);
  const requirements = new RequirementLists(states);
  const requests = new RequestTexts(plan.model.table);
  return plan.planned.map((node): PlannedNode => {
    const { choice, ranked, reasons } = itemAt(pools, node.pool.index);
    const budget = limitBudget(node, slack, choice);
    const zone = zones.take(node);
    const ranking = isOutcomeOnly ? ranked.firstOf(node, zone) : ranked.of(node, budget, zone);
    const { items, isRelaxed } = requirements.of(node, choice, budget);
    const pods: string[] = [];
    for (const entry of node.entries) for (const pod of entry.pods) pods.push(podKey(pod));
    const common = {
      pool: node.pool.name,
      requirements: items,
      pods,
      requests: requests.of(node, ranking.daemons),
      alternatives: ranking.alternatives,
      minValuesRelaxed: isRelaxed,
    };
    if (!explainChoices) return common;
    return { ...common, choice: explainChoice(node, plan.compiled, choice, podsKeyOf(node), reasons) };
  });
}

/** Among zones of equal price, chooses the one with the fewest planned nodes. */
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

  /** A zone is preferred to no zone at the same price. */
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

/** Requirement items by state. Where minValues is relaxed, the values on offer replace the values asked for. */
class RequirementLists {
  private readonly states: StateTable;
  private readonly known = new Map<string, readonly RequirementItem[]>();

  constructor(states: StateTable) {
    this.states = states;
  }

  of(
    node: OpenNode,
    choice: TypeChoice,
    budget: Float64Array | undefined,
  ): { items: readonly RequirementItem[]; isRelaxed: boolean } {
    const { requirements, items: own, minValues } = this.states.at(node.state);
    const isReserved = node.reservation >= 0;
    const offered = minValues.length === 0 ? [] : choice.minValuesOffered(node.state, node.used, node.ports, budget);
    const short = offered.filter(({ atLeast, offered: values }) => values < atLeast);
    if (short.length === 0 && !isReserved) return { items: own, isRelaxed: false };
    const key = `${node.state}/${isReserved}/${short.map((each) => `${each.key}=${each.offered}`).join()}`;
    let items = this.known.get(key);
    if (items === undefined) {
      const loosened = short.reduce(
        (sum, each) => sum.replace(sum.get(each.key).withMinValues(each.offered)),
        requirements,
      );
      const kept = isReserved ? loosened.replace(Requirement.of(Labels.capacityType, 'In', ['reserved'])) : loosened;
      items = kept.toItems();
      this.known.set(key, items);
    }
    return { items, isRelaxed: short.length > 0 };
  }
}

/** Equal for nodes with the same number of pods of the same classes. */
function podsKeyOf({ entries }: OpenNode): string {
  let key = '';
  for (const { podClass, pods } of entries) key += `${podClass.id}*${pods.length},`;
  return key;
}

/** Index of the first offering at the price; offerings are sorted by price. */
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

/** Limit budget of the node's alternatives: usage of the first one plus the slack. Subtracts from the slack. */
function limitBudget(
  node: OpenNode,
  slacks: readonly (Float64Array | undefined)[],
  choice: TypeChoice,
): Float64Array | undefined {
  const { pool, limitNeed: own } = node;
  const slack = slacks[pool.index];
  if (slack === undefined) return undefined;
  const use = new Rows(slack.length, pool.limitUse);
  const budget = slack.map((amount, at) => Math.max(0, amount) + floatAt(own, at));
  const more = new Float64Array(slack.length);
  for (let type = 0; type < pool.types.length; type++) {
    if (!choice.fits(type, node.used) || !choice.withinLimits(type, budget)) continue;
    for (let at = 0; at < slack.length; at++) {
      more[at] = Math.max(floatAt(more, at), use.get(type, at) - floatAt(own, at));
    }
  }
  takeFromLimits(slacks, pool, more);
  return budget;
}
