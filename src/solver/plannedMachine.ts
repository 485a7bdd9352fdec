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
import type { CompiledDemand } from './model/compiledDemand.ts';
import type { Demand } from './packing/demand.ts';
import { explainChoice } from './nodeChoice.ts';
import type { OpenNode } from './placement/openNode.ts';
import type { Alternative, NewNode, NodeChoice } from './problem.ts';

/** Instance types that one NodeClaim may name. */
const MAX_TYPES = 600;

export class PlannedMachine implements NewNode {
  readonly pool: NodePool;
  readonly requirements: Requirements;
  readonly pods: readonly Pod[];
  readonly minValuesRelaxed: boolean;
  private readonly node: OpenNode;
  private readonly compiled: CompiledDemand;
  private readonly demand: Demand;
  /** What any alternative may use of each limit. */
  private readonly limitBudget: Float64Array | undefined;
  private readonly firstZone: string;
  private ranked: readonly Alternative[] | undefined;
  private explained: NodeChoice | undefined;

  constructor(
    node: OpenNode,
    compiled: CompiledDemand,
    demand: Demand,
    limitBudget: Float64Array | undefined,
    firstZone: string,
  ) {
    this.node = node;
    this.compiled = compiled;
    this.demand = demand;
    this.limitBudget = limitBudget;
    this.firstZone = firstZone;
    this.pool = node.pool.pool;
    const { entries } = node;
    // A machine of many pods takes a copy; one that holds one kind has its list already.
    const pods = entries.length === 1 ? entries[0]!.pods : ([] as Pod[]).concat(...entries.map((entry) => entry.pods));
    this.pods = pods;
    const { requirements, minValues } = compiled.model.states.at(node.state);
    const offered =
      minValues.length === 0 ? [] : demand.minValuesOffered(node.state, node.used, node.ports, limitBudget);
    const short = offered.filter(({ atLeast, offered: values }) => values < atLeast);
    this.minValuesRelaxed = short.length > 0;
    const loosened = short.reduce(
      (sum, { key, offered: values }) => sum.replace(sum.get(key).withMinValues(values)),
      requirements,
    );
    this.requirements =
      node.reservation < 0 ? loosened : loosened.replace(Requirement.of(Labels.capacityType, 'In', ['reserved']));
  }

  /** Every way to buy a machine that holds the pods; equal prices prefer the zone that has fewest machines. */
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
    this.explained ??= explainChoice(this.node, this.compiled, this.demand);
    return this.explained;
  }

  private rank(): Alternative[] {
    const { node, demand, compiled } = this;
    const holding = new Map<number, boolean>();
    const holds = (type: number): boolean => {
      let answer = holding.get(type);
      if (answer === undefined) {
        answer =
          demand.fits(type, node.used) &&
          !demand.clashesWithDaemons(type, node.ports) &&
          demand.withinLimits(type, this.limitBudget);
        holding.set(type, answer);
      }
      return answer;
    };
    const offerings = compiled.model.states
      .at(node.state)
      .offerings.filter(
        ({ type, reservation }) =>
          (node.reservation >= 0 ? reservation === node.reservation : reservation < 0) && holds(type),
      )
      .sort((left, right) => this.compare(left, right));
    const types = new Set<number>();
    return offerings.flatMap(({ type, offering }): Alternative[] => {
      if (types.size >= MAX_TYPES && !types.has(type)) return [];
      types.add(type);
      const { zone, capacityType, price } = offering;
      return [{ instanceType: node.pool.types[type]!, zone, capacityType, pricePerHour: price }];
    });
  }

  private compare(left: CompiledOffering, right: CompiledOffering): number {
    const planned = ({ type }: CompiledOffering): number => (type === this.node.type ? 0 : 1);
    const { regionalZones } = this.node.pool;
    const elsewhere = ({ offering: { zone } }: CompiledOffering): number =>
      zone === this.firstZone ? 0 : regionalZones.has(zone) ? 2 : 1;
    const name = ({ offering }: CompiledOffering): string => `${offering.zone}/${offering.capacityType}`;
    return (
      left.offering.price - right.offering.price ||
      planned(left) - planned(right) ||
      elsewhere(left) - elsewhere(right) ||
      left.type - right.type ||
      (name(left) < name(right) ? -1 : 1)
    );
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
