/**
 * A new node as the caller sees it. In: a planned node; out: ranked alternatives, requests and the reasons for the
 * choice, each worked out when it is asked for: most callers look at a few.
 */
import type { Pod } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Labels } from '../api/labels.ts';
import { Requirement } from '../constraints/requirement.ts';
import type { Requirements } from '../constraints/requirements.ts';
import type { Quantity } from '../units/quantity.ts';
import { addResources, multiplyResources, noResources, quantityOf, type Resources } from '../units/resources.ts';
import type { CompiledOffering } from './model/compiledPool.ts';
import type { Question } from './model/question.ts';
import type { Demand } from './packing/demand.ts';
import { explainChoice } from './nodeChoice.ts';
import type { PlannedNode } from './placement/plannedNode.ts';
import type { Alternative, NewNode, NodeChoice } from './problem.ts';

/** Instance types that one NodeClaim may name. */
const MAX_ALTERNATIVES = 600;

export class PlannedMachine implements NewNode {
  readonly pool: NodePool;
  readonly requirements: Requirements;
  readonly pods: readonly Pod[];
  readonly minValuesRelaxed: boolean;
  private readonly node: PlannedNode;
  private readonly question: Question;
  private readonly demand: Demand;
  /** What any alternative may use of each limit. */
  private readonly limitBudget: Float64Array | undefined;
  private readonly firstZone: string;
  private ranked: readonly Alternative[] | undefined;
  private explained: NodeChoice | undefined;

  constructor(
    node: PlannedNode,
    question: Question,
    demand: Demand,
    limitBudget: Float64Array | undefined,
    firstZone: string,
  ) {
    this.node = node;
    this.question = question;
    this.demand = demand;
    this.limitBudget = limitBudget;
    this.firstZone = firstZone;
    this.pool = node.pool.pool;
    this.pods = node.entries.flatMap(({ pods }) => pods);
    const { requirements } = question.model.states.at(node.state);
    const short = demand
      .minValuesOffered(node.state, node.used, node.ports, limitBudget)
      .filter(({ atLeast, offered }) => offered < atLeast);
    this.minValuesRelaxed = short.length > 0;
    const loosened = short.reduce(
      (sum, { key, offered }) => sum.replace(sum.get(key).withMinValues(offered)),
      requirements,
    );
    this.requirements =
      node.reservation < 0 ? loosened : loosened.replace(Requirement.of(Labels.capacityType, 'In', ['reserved']));
  }

  /** One per type, at its cheapest offering; equal prices prefer the zone that has fewest machines. */
  get alternatives(): readonly Alternative[] {
    this.ranked ??= this.rank();
    return this.ranked;
  }

  get requests(): Resources {
    const { entries, pool } = this.node;
    const own = entries.map(({ podClass, pods }) => multiplyResources(podClass.shape.requests, pods.length));
    const types = new Set(this.alternatives.map(({ instanceType }) => instanceType));
    const daemons = pool.types.flatMap((type, index) =>
      types.has(type) ? [pool.daemonRequests[index] ?? noResources] : [],
    );
    return addResources(...own, leastOf(daemons));
  }

  get choice(): NodeChoice {
    this.explained ??= explainChoice(this.node, this.question, this.demand);
    return this.explained;
  }

  private rank(): Alternative[] {
    const { node, demand, question } = this;
    const best = new Map<number, CompiledOffering>();
    for (const each of question.model.states.at(node.state).offerings) {
      if (node.reservation >= 0 ? each.reservation !== node.reservation : each.reservation >= 0) continue;
      const { type } = each;
      if (!demand.fits(type, node.used) || demand.clashesWithDaemons(type, node.ports)) continue;
      if (!demand.withinLimits(type, this.limitBudget)) continue;
      const known = best.get(type);
      if (known === undefined || this.isBefore(each, known)) best.set(type, each);
    }
    const sorted = [...best.values()].sort(
      (left, right) =>
        left.offering.price - right.offering.price ||
        Number(right.type === node.type) - Number(left.type === node.type) ||
        left.type - right.type,
    );
    return sorted.slice(0, MAX_ALTERNATIVES).map(({ type, offering }) => ({
      instanceType: node.pool.types[type]!,
      zone: offering.zone,
      capacityType: offering.capacityType,
      pricePerHour: offering.price,
    }));
  }

  private isBefore({ offering }: CompiledOffering, { offering: other }: CompiledOffering): boolean {
    if (offering.price !== other.price) return offering.price < other.price;
    return offering.zone === this.firstZone && other.zone !== this.firstZone;
  }
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
