/**
 * The ranked alternatives of planned nodes. Nodes with the same state and load have the same ones, and so have nodes
 * whose loads differ but are held by the same instance types: each list is made once and shared.
 */
import { noResources, quantityOf, type Resources } from '../units/resources.ts';
import type { Quantity } from '../units/quantity.ts';
import type { TypeChoice } from './packing/typeChoice.ts';
import type { OpenNode } from './placement/openNode.ts';
import type { Alternative } from './problem.ts';
import { intAt, itemAt } from './rows.ts';

/** Instance types that one NodeClaim may name. */
const MAX_TYPES = 600;
/** Bits of a holding set in one character of its key. */
const BITS = 15;

export interface Ranking {
  readonly alternatives: readonly Alternative[];
  /** What daemons ask for on every type among them. */
  readonly daemons: Resources;
}

export class RankedAlternatives {
  private readonly choice: TypeChoice;
  private readonly byLoad = new Map<string, Ranking>();
  private readonly byHolders = new Map<string, Ranking>();
  private readonly holds: Uint8Array;
  private readonly hasSameDaemons: boolean;

  /** For the nodes of one pool: `choice` says which of its types hold a load. */
  constructor(choice: TypeChoice) {
    this.choice = choice;
    const { types, daemonRequests } = choice.pool;
    this.holds = new Uint8Array(types.length);
    this.hasSameDaemons = daemonRequests.every((each) => each === daemonRequests[0]);
  }

  /**
   * `podsKey` names the pods on the node by class and number; `limitBudget` is what any alternative may use of each limit;
   * `firstZone` is preferred at equal prices.
   */
  of(node: OpenNode, podsKey: string, limitBudget: Float64Array | undefined, firstZone: string): Ranking {
    const own = `${node.state}/${node.reservation}/${node.type}/${firstZone}`;
    const load = `${own}/${podsKey}`;
    // Ports and limits take part in what holds a node, and are rare.
    const isPlain = limitBudget === undefined && node.ports.length === 0;
    const sameLoad = isPlain ? this.byLoad.get(load) : undefined;
    if (sameLoad !== undefined) return sameLoad;
    const holders = `${own}/${this.findHolders(node, limitBudget)}`;
    let ranking = this.byHolders.get(holders);
    if (ranking === undefined) {
      ranking = this.rank(node, firstZone);
      this.byHolders.set(holders, ranking);
    }
    if (isPlain) this.byLoad.set(load, ranking);
    return ranking;
  }

  /** The list with nothing but the alternative that the plan counts on. */
  firstOf(node: OpenNode, firstZone: string): Ranking {
    this.holds.fill(0);
    this.holds[node.type] = 1;
    const { alternatives, daemons } = this.rank(node, firstZone);
    return { alternatives: alternatives.slice(0, 1), daemons };
  }

  /** Fills in `holds` by type; the same text for the same set of types. */
  private findHolders(node: OpenNode, limitBudget: Float64Array | undefined): string {
    const { choice, holds } = this;
    const { room } = choice;
    const isPlain = limitBudget === undefined && node.ports.length === 0;
    let key = '';
    let bits = 0;
    for (let type = 0; type < holds.length; type++) {
      let fits = room.holds(type, node.used) ? 1 : 0;
      if (fits === 1 && !isPlain) {
        const isOpen = !choice.clashesWithDaemons(type, node.ports) && choice.withinLimits(type, limitBudget);
        fits = isOpen ? 1 : 0;
      }
      holds[type] = fits;
      bits = bits * 2 + fits;
      if (type % BITS < BITS - 1) continue;
      key += String.fromCharCode(bits);
      bits = 0;
    }
    return key + String.fromCharCode(bits);
  }

  private rank(node: OpenNode, firstZone: string): Ranking {
    const { holds, hasSameDaemons } = this;
    const { pool, states } = this.choice;
    const { types, reservations, alternatives } = states.order(node.state, firstZone);
    const listed: Alternative[] = [];
    const seen = types.length > MAX_TYPES ? new Set<number>() : undefined;
    const sums = new Set<Resources>();
    for (let at = 0; at < types.length; at++) {
      const type = intAt(types, at);
      if (holds[type] === 0 || intAt(reservations, at) !== node.reservation) continue;
      if (seen !== undefined && seen.size >= MAX_TYPES && !seen.has(type)) continue;
      seen?.add(type);
      if (!hasSameDaemons) sums.add(itemAt(pool.daemonRequests, type));
      listed.push(itemAt(alternatives, at));
    }
    const daemons = hasSameDaemons ? (pool.daemonRequests[0] ?? noResources) : leastOf([...sums]);
    return { alternatives: plannedTypeFirst(listed, itemAt(pool.types, node.type).name), daemons };
  }
}

/** At the least price the type that the plan counts on comes before others. */
function plannedTypeFirst(ranked: Alternative[], planned: string): Alternative[] {
  const least = ranked[0]?.pricePerHour;
  let end = 0;
  let hasOthers = false;
  for (; end < ranked.length && itemAt(ranked, end).pricePerHour === least; end++) {
    hasOthers ||= itemAt(ranked, end).instanceType !== planned;
  }
  if (!hasOthers) return ranked;
  const equals = ranked.slice(0, end);
  const isPlanned = ({ instanceType }: Alternative): boolean => instanceType === planned;
  return [...equals.filter(isPlanned), ...equals.filter((each) => !isPlanned(each)), ...ranked.slice(end)];
}

/** What is asked for on every one of them. */
function leastOf([first, ...others]: readonly Resources[]): Resources {
  if (first === undefined) return noResources;
  const entries = Object.keys(first).flatMap((name): [string, Quantity][] => {
    const amounts = [first, ...others].map((each) => quantityOf(each, name));
    const least = amounts.reduce((left, right) => (right.compare(left) < 0 ? right : left));
    return least.isZero() ? [] : [[name, least]];
  });
  return Object.fromEntries(entries);
}
