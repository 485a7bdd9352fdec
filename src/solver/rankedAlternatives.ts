/**
 * Ranked alternatives of planned nodes. Nodes in the same state whose loads fit the same instance types have the same
 * alternatives, so each list is made once and shared.
 */
import { noResources, quantityOf, type Resources } from '../units/resources.ts';
import type { Quantity } from '../units/quantity.ts';
import type { PurchaseOrder } from './model/purchaseOrder.ts';
import type { TypeChoice } from './packing/typeChoice.ts';
import type { OpenNode } from './placement/openNode.ts';
import type { Alternative } from './problem.ts';
import { intAt, itemAt } from './rows.ts';

/** Most instance types in one NodeClaim. */
const MAX_TYPES = 600;
/** Bits of the set of holding types per character of its key. */
const BITS = 15;

export interface Ranking {
  readonly alternatives: readonly Alternative[];
  /** Daemon requests common to all types in the list. */
  readonly daemons: Resources;
}

export class RankedAlternatives {
  private readonly choice: TypeChoice;
  /** By state and type, preferred zone, and level of the load. */
  private readonly known = new Map<number, Map<string, Map<number | string, Ranking>>>();
  /** By everything that they depend on. */
  private readonly rankings = new Map<string, Ranking>();
  private readonly holds: Uint8Array;
  private readonly hasSameDaemons: boolean;

  /** For the nodes of one pool; `choice` tells which of its types hold a load. */
  constructor(choice: TypeChoice) {
    this.choice = choice;
    const { types, daemonRequests } = choice.pool;
    this.holds = new Uint8Array(types.length);
    this.hasSameDaemons = daemonRequests.every((each) => each === daemonRequests[0]);
  }

  /** `limitBudget`: what an alternative may use of each limit; `firstZone`: preferred at equal prices. */
  of(node: OpenNode, limitBudget: Float64Array | undefined, firstZone: string): Ranking {
    // Ports, limits and reservations restrict the offerings too, but are rare.
    const isPlain = limitBudget === undefined && node.ports.length === 0 && node.reservation < 0;
    if (!isPlain) return this.byHolders(node, limitBudget, firstZone);
    const { pool, states } = this.choice;
    const byLevel = this.levelsOf(node.state * pool.types.length + node.type, firstZone);
    const level = states.roomLevels(pool.index).levelOf(node.used);
    let ranking = byLevel.get(level);
    if (ranking === undefined) {
      ranking = this.byHolders(node, limitBudget, firstZone);
      byLevel.set(level, ranking);
    }
    return ranking;
  }

  private levelsOf(stateAndType: number, zone: string): Map<number | string, Ranking> {
    let byZone = this.known.get(stateAndType);
    if (byZone === undefined) {
      byZone = new Map();
      this.known.set(stateAndType, byZone);
    }
    let byLevel = byZone.get(zone);
    if (byLevel === undefined) {
      byLevel = new Map();
      byZone.set(zone, byLevel);
    }
    return byLevel;
  }

  private byHolders(node: OpenNode, limitBudget: Float64Array | undefined, firstZone: string): Ranking {
    const { state, reservation, type } = node;
    const key = `${state}/${reservation}/${type}/${firstZone}/${this.findHolders(node, limitBudget)}`;
    let ranking = this.rankings.get(key);
    if (ranking === undefined) {
      ranking = this.rank(node, firstZone);
      this.rankings.set(key, ranking);
    }
    return ranking;
  }

  /** Only the alternative that the plan assumes. */
  firstOf(node: OpenNode, firstZone: string): Ranking {
    const { daemonRequests } = this.choice.pool;
    const { order, purchases } = this.orderFor(node, firstZone);
    const { types, reservations } = purchases;
    const first = order.find((each) => types[each] === node.type && reservations[each] === node.reservation);
    return {
      alternatives: first === undefined ? [] : [purchases.alternative(first)],
      daemons: itemAt(daemonRequests, node.type),
    };
  }

  private orderFor({ state }: OpenNode, firstZone: string): { purchases: PurchaseOrder; order: Int32Array } {
    const { states, pool } = this.choice;
    const purchases = states.purchases(pool.index);
    return { purchases, order: purchases.of(state, states.at(state).offerings, firstZone) };
  }

  /** Sets `holds` by type; returns a key that is equal for equal sets of types. */
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
    const { pool } = this.choice;
    const { order, purchases } = this.orderFor(node, firstZone);
    const { types, reservations } = purchases;
    const listed: Alternative[] = [];
    const seen = pool.types.length > MAX_TYPES ? new Set<number>() : undefined;
    const sums = new Set<Resources>();
    for (let at = 0; at < order.length; at++) {
      const offering = intAt(order, at);
      const type = intAt(types, offering);
      if (holds[type] === 0 || intAt(reservations, offering) !== node.reservation) continue;
      if (seen !== undefined && seen.size >= MAX_TYPES && !seen.has(type)) continue;
      seen?.add(type);
      if (!hasSameDaemons) sums.add(itemAt(pool.daemonRequests, type));
      listed.push(purchases.alternative(offering));
    }
    const daemons = hasSameDaemons ? (pool.daemonRequests[0] ?? noResources) : leastOf([...sums]);
    return { alternatives: plannedTypeFirst(listed, itemAt(pool.types, node.type).name), daemons };
  }
}

/** At the least price, moves the type that the plan assumes to the front. */
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

/** The requests common to all of them. */
function leastOf([first, ...others]: readonly Resources[]): Resources {
  if (first === undefined) return noResources;
  const entries = Object.keys(first).flatMap((name): [string, Quantity][] => {
    const amounts = [first, ...others].map((each) => quantityOf(each, name));
    const least = amounts.reduce((left, right) => (right.compare(left) < 0 ? right : left));
    return least.isZero() ? [] : [[name, least]];
  });
  return Object.fromEntries(entries);
}
