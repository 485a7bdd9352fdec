/**
 * Limits per node ("at most n pods that this counter counts") of all items, as flat lists. Counters that limit no item
 * are left out.
 */
import { UNLIMITED } from '../model/hostCounts.ts';
import { floatAt, intAt } from '../rows.ts';
import type { Item } from './item.ts';

export interface HostRules {
  /** One more than the largest counter. */
  readonly counters: number;
  /** By item: 1 when it has no limits per node and no ports, so that lookups can be skipped. */
  readonly plain: Uint8Array;
  /** By item: 1 when its pods use host ports. */
  readonly hasPorts: Uint8Array;
  /** The item's range of `adds` and `ownMax` starts here and ends at the next item's start. */
  readonly addStart: Int32Array;
  /** Counters that count the item, and the limit that it sets for each of them, itself included. */
  readonly adds: Int32Array;
  readonly ownMax: Int32Array;
  /** The item's limits, with ranges in the same way. */
  readonly limitStart: Int32Array;
  readonly limitCounter: Int32Array;
  readonly limitMax: Int32Array;
  /** The limit for pods added later. */
  readonly othersMax: Int32Array;
  /** Least number of nodes that the limits force: the maximum over all counters. */
  readonly nodesForced: number;
  /** By item: the share of a forced node that one pod needs. */
  readonly share: Float64Array;
}

export function hostRules(items: readonly Item[]): HostRules {
  const limits = limitsOf(items);
  const adds = addsOf(items, limits);
  return { ...limits, ...adds, ...forcedNodes(items, limits.counters, adds) };
}

type Limits = Pick<HostRules, 'counters' | 'limitStart' | 'limitCounter' | 'limitMax' | 'othersMax'>;
type Adds = Pick<HostRules, 'plain' | 'hasPorts' | 'addStart' | 'adds' | 'ownMax'>;

function limitsOf(items: readonly Item[]): Limits {
  const limitStart = new Int32Array(items.length + 1);
  const limitCounter: number[] = [];
  const limitMax: number[] = [];
  const othersMax: number[] = [];
  let counters = 0;
  let item = 0;
  for (const { variant } of items) {
    for (const { counter, max, othersMax: forOthers } of variant.hostLimits) {
      limitCounter.push(counter);
      limitMax.push(max);
      othersMax.push(forOthers);
      if (counter >= counters) counters = counter + 1;
    }
    item += 1;
    limitStart[item] = limitCounter.length;
  }
  return {
    counters,
    limitStart,
    limitCounter: Int32Array.from(limitCounter),
    limitMax: Int32Array.from(limitMax),
    othersMax: Int32Array.from(othersMax),
  };
}

function addsOf(items: readonly Item[], { counters, limitStart, limitCounter, limitMax }: Limits): Adds {
  const isLimited = new Uint8Array(counters);
  for (const counter of limitCounter) isLimited[counter] = 1;
  const limitOf = (item: number, counter: number): number => {
    for (let at = intAt(limitStart, item); at < intAt(limitStart, item + 1); at++) {
      if (limitCounter[at] === counter) return intAt(limitMax, at);
    }
    return UNLIMITED;
  };
  const plain = new Uint8Array(items.length);
  const hasPorts = new Uint8Array(items.length);
  const addStart = new Int32Array(items.length + 1);
  const adds: number[] = [];
  const ownMax: number[] = [];
  let item = 0;
  for (const { podClass } of items) {
    const before = adds.length;
    for (const counter of podClass.hostAdds) {
      if (isLimited[counter] !== 1) continue;
      adds.push(counter);
      ownMax.push(limitOf(item, counter));
    }
    addStart[item + 1] = adds.length;
    const isBound = adds.length > before || intAt(limitStart, item) < intAt(limitStart, item + 1);
    hasPorts[item] = podClass.shape.hostPorts.length > 0 ? 1 : 0;
    plain[item] = isBound || hasPorts[item] === 1 ? 0 : 1;
    item += 1;
  }
  return { plain, hasPorts, addStart, adds: Int32Array.from(adds), ownMax: Int32Array.from(ownMax) };
}

/** Pods that a counter both counts and limits need at least (their number ÷ the loosest limit) nodes. */
function forcedNodes(
  items: readonly Item[],
  counters: number,
  { addStart, adds, ownMax }: Adds,
): Pick<HostRules, 'nodesForced' | 'share'> {
  const share = new Float64Array(items.length);
  const pods = new Float64Array(counters);
  const loosest = new Float64Array(counters);
  const isBound = (at: number): boolean => intAt(ownMax, at) >= 1 && intAt(ownMax, at) !== UNLIMITED;
  let item = 0;
  for (const { count } of items) {
    for (let at = intAt(addStart, item); at < intAt(addStart, item + 1); at++) {
      if (!isBound(at)) continue;
      const counter = intAt(adds, at);
      pods[counter] = floatAt(pods, counter) + count;
      loosest[counter] = Math.max(floatAt(loosest, counter), intAt(ownMax, at));
    }
    item += 1;
  }
  let worst = -1;
  let nodesForced = 0;
  for (let counter = 0; counter < counters; counter++) {
    if (pods[counter] === 0 || floatAt(pods, counter) / floatAt(loosest, counter) <= nodesForced) continue;
    worst = counter;
    nodesForced = floatAt(pods, counter) / floatAt(loosest, counter);
  }
  if (worst < 0) return { nodesForced, share };
  for (item = 0; item < items.length; item++) {
    for (let at = intAt(addStart, item); at < intAt(addStart, item + 1); at++) {
      if (adds[at] === worst && ownMax[at] !== UNLIMITED) share[item] = 1 / floatAt(loosest, worst);
    }
  }
  return { nodesForced, share };
}
