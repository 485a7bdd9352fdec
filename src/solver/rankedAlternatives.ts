/**
 * The ranked alternatives of planned nodes. Nodes with the same state and load have the same ones, and so have nodes
 * whose loads differ but are held by the same instance types: each list is made once and shared.
 */
import type { CompiledOffering } from './model/compiledPool.ts';
import type { TypeChoice } from './packing/typeChoice.ts';
import type { OpenNode } from './placement/openNode.ts';
import type { Alternative } from './problem.ts';

/** Instance types that one NodeClaim may name. */
const MAX_TYPES = 600;
/** Bits of a holding set in one character of its key. */
const BITS = 15;

export interface Ranking {
  readonly alternatives: readonly Alternative[];
  /** Of the pool: the types among them, each once. */
  readonly types: readonly number[];
}

export class RankedAlternatives {
  private readonly demand: TypeChoice;
  private readonly byLoad = new Map<string, Ranking>();
  private readonly byHolders = new Map<string, Ranking>();
  private readonly ofOffering: (Alternative | undefined)[] = [];
  private readonly holds: Uint8Array;

  /** For the nodes of one pool: `demand` says which of its types hold a load. */
  constructor(demand: TypeChoice) {
    this.demand = demand;
    this.holds = new Uint8Array(demand.pool.types.length);
  }

  /**
   * `podsKey` names the pods on the node by class and number; `limitBudget` is what any alternative may use of each limit;
   * `firstZone` is preferred at equal prices.
   */
  of(node: OpenNode, podsKey: string, limitBudget: Float64Array | undefined, firstZone: string): Ranking {
    const choice = `${node.state}/${node.reservation}/${node.type}/${firstZone}`;
    const load = `${choice}/${podsKey}`;
    // Ports and limits take part in what holds a node, and are rare.
    const isPlain = limitBudget === undefined && node.ports.length === 0;
    const sameLoad = isPlain ? this.byLoad.get(load) : undefined;
    if (sameLoad !== undefined) return sameLoad;
    const holders = `${choice}/${this.findHolders(node, limitBudget)}`;
    const ranking = this.byHolders.get(holders) ?? this.rank(node, firstZone);
    this.byHolders.set(holders, ranking);
    if (isPlain) this.byLoad.set(load, ranking);
    return ranking;
  }

  /** Fills in `holds` by type; the same text for the same set of types. */
  private findHolders(node: OpenNode, limitBudget: Float64Array | undefined): string {
    const { demand, holds } = this;
    let key = '';
    let bits = 0;
    for (let type = 0; type < holds.length; type++) {
      const fits =
        demand.fits(type, node.used) &&
        !demand.clashesWithDaemons(type, node.ports) &&
        demand.withinLimits(type, limitBudget);
      holds[type] = fits ? 1 : 0;
      bits = bits * 2 + (fits ? 1 : 0);
      if (type % BITS < BITS - 1) continue;
      key += String.fromCharCode(bits);
      bits = 0;
    }
    return key + String.fromCharCode(bits);
  }

  /** Offerings come cheapest first, so only those of equal price have to be put in order. */
  private rank(node: OpenNode, firstZone: string): Ranking {
    const { offerings } = this.demand.states.at(node.state);
    const types = new Set<number>();
    const alternatives: Alternative[] = [];
    let equals: CompiledOffering[] = [];
    const add = ({ index, type, offering }: CompiledOffering): void => {
      if (types.size >= MAX_TYPES && !types.has(type)) return;
      types.add(type);
      const { zone, capacityType, price } = offering;
      const instanceType = this.demand.pool.types[type]?.name ?? '';
      alternatives.push((this.ofOffering[index] ??= { instanceType, zone, capacityType, pricePerHour: price }));
    };
    const flush = (): void => {
      const [only, second] = equals;
      if (only === undefined) return;
      if (second === undefined) add(only);
      else {
        for (let rank = 0; rank < RANKS; rank++) {
          for (const each of equals) if (this.rankAmongEquals(node, firstZone, each) === rank) add(each);
        }
      }
      equals = [];
    };
    for (const each of offerings) {
      if (this.holds[each.type] === 0) continue;
      if (node.reservation >= 0 ? each.reservation !== node.reservation : each.reservation >= 0) continue;
      if (equals[0] !== undefined && equals[0].offering.price !== each.offering.price) flush();
      equals.push(each);
    }
    flush();
    return { alternatives, types: [...types] };
  }

  /** The planned type first, then the zone with fewest planned nodes; no zone at all comes last. */
  private rankAmongEquals(
    { type, pool }: OpenNode,
    firstZone: string,
    { type: own, offering }: CompiledOffering,
  ): number {
    const elsewhere = offering.zone === firstZone ? 0 : pool.regionalZones.has(offering.zone) ? 2 : 1;
    return (own === type ? 0 : 3) + elsewhere;
  }
}

const RANKS = 6;
