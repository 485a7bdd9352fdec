/**
 * Current contents of one node, in terms of limits per node. Reused for every node that is filled: `clear` resets only
 * what was touched.
 */
import { hostPortsClash, type HostPort } from '../../pods/hostPorts.ts';
import { UNLIMITED } from '../model/hostCounts.ts';
import { intAt, itemAt } from '../rows.ts';
import type { HostRules } from './hostRules.ts';
import type { Item } from './item.ts';

export class HostTally {
  readonly ports: HostPort[] = [];
  private readonly items: readonly Item[];
  private readonly rules: HostRules;
  private readonly count: Int32Array;
  private readonly limit: Int32Array;
  /** Counters to reset, up to `touches`. A fixed buffer, because an emptied list would be allocated again. */
  private readonly touched: number[] = [];
  private touches = 0;

  constructor(items: readonly Item[], rules: HostRules) {
    this.items = items;
    this.rules = rules;
    this.count = new Int32Array(rules.counters);
    this.limit = new Int32Array(rules.counters).fill(UNLIMITED);
  }

  clear(): void {
    for (let at = 0; at < this.touches; at++) {
      const counter = itemAt(this.touched, at);
      this.count[counter] = 0;
      this.limit[counter] = UNLIMITED;
    }
    this.touches = 0;
    if (this.ports.length > 0) this.ports.length = 0;
  }

  /** How many more pods of the item the limits allow. */
  allowed(item: number): number {
    const { plain, hasPorts, limitStart, limitCounter, limitMax, addStart, adds, ownMax } = this.rules;
    if (plain[item] === 1) return UNLIMITED;
    const { count, limit } = this;
    const limitEnd = intAt(limitStart, item + 1);
    for (let at = intAt(limitStart, item); at < limitEnd; at++) {
      if (intAt(count, intAt(limitCounter, at)) > intAt(limitMax, at)) return 0;
    }
    let most = UNLIMITED;
    const addEnd = intAt(addStart, item + 1);
    for (let at = intAt(addStart, item); at < addEnd; at++) {
      const counter = intAt(adds, at);
      const max = Math.min(intAt(ownMax, at), intAt(limit, counter)) - intAt(count, counter);
      if (max < most) most = max;
    }
    if (hasPorts[item] === 1) {
      const { hostPorts } = itemAt(this.items, item).podClass.shape;
      most = clash(hostPorts, this.ports) ? 0 : Math.min(most, 1);
    }
    return most > 0 ? most : 0;
  }

  add(item: number, pods: number): void {
    const { plain, hasPorts, limitStart, limitCounter, othersMax, addStart, adds } = this.rules;
    if (plain[item] === 1) return;
    const limitEnd = intAt(limitStart, item + 1);
    for (let at = intAt(limitStart, item); at < limitEnd; at++) {
      const counter = intAt(limitCounter, at);
      this.touched[this.touches++] = counter;
      if (intAt(othersMax, at) < intAt(this.limit, counter)) this.limit[counter] = intAt(othersMax, at);
    }
    const addEnd = intAt(addStart, item + 1);
    for (let at = intAt(addStart, item); at < addEnd; at++) {
      const counter = intAt(adds, at);
      this.touched[this.touches++] = counter;
      this.count[counter] = intAt(this.count, counter) + pods;
    }
    if (hasPorts[item] === 0) return;
    for (const port of itemAt(this.items, item).podClass.shape.hostPorts) this.ports.push(port);
  }
}

/** A separate function: a closure would be allocated on every call. */
function clash(ports: readonly HostPort[], taken: readonly HostPort[]): boolean {
  return taken.some((other) => ports.some((port) => hostPortsClash(port, other)));
}
