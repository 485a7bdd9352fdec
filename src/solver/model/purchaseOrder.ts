/**
 * Purchase order of a pool's offerings for a planned node: cheapest first; at equal price a preferred zone, then other
 * zones, then no zone. Offerings are referred to by their index in the pool's list.
 */
import type { Alternative } from '../problem.ts';
import { floatAt, intAt, itemAt } from '../rows.ts';
import type { CompiledOffering, CompiledPool } from './compiledPool.ts';

/** Cached orders. */
const MAX_ORDERS = 128;
/** Preferred zone, another zone, no zone. */
const RANKS = 3;

export class PurchaseOrder {
  /** By offering: its instance type, and the reservation or -1. */
  readonly types: Int32Array;
  readonly reservations: Int32Array;
  private readonly pool: CompiledPool;
  private readonly prices: Float64Array;
  /** By offering: its zone as a number; negative for "no zone". */
  private readonly zones: Int32Array;
  private readonly zoneNumbers = new Map<string, number>();
  private readonly alternatives: (Alternative | undefined)[] = [];
  private readonly orders = new Map<string, Int32Array>();

  private constructor(pool: CompiledPool) {
    this.pool = pool;
    const { length } = pool.offerings;
    this.types = new Int32Array(length);
    this.reservations = new Int32Array(length);
    this.prices = new Float64Array(length);
    this.zones = new Int32Array(length);
  }

  static in(pool: CompiledPool): PurchaseOrder {
    const order = new PurchaseOrder(pool);
    for (const { index, type, reservation, offering } of pool.offerings) {
      order.types[index] = type;
      order.reservations[index] = reservation;
      order.prices[index] = offering.price;
      order.zones[index] = order.zoneNumber(offering.zone);
    }
    return order;
  }

  /** The offerings of a state (given cheapest first) in purchase order. */
  of(state: number, offerings: readonly CompiledOffering[], firstZone: string): Int32Array {
    const key = `${state}/${firstZone}`;
    let order = this.orders.get(key);
    if (order === undefined) {
      if (this.orders.size >= MAX_ORDERS) this.orders.clear();
      order = this.sort(offerings, this.zoneNumber(firstZone));
      this.orders.set(key, order);
    }
    return order;
  }

  /** The offering as it appears in solutions, which share the object. */
  alternative(offering: number): Alternative {
    return (this.alternatives[offering] ??= this.name(itemAt(this.pool.offerings, offering)));
  }

  private name({ type, offering }: CompiledOffering): Alternative {
    const { zone, capacityType, price } = offering;
    return { instanceType: itemAt(this.pool.types, type).name, zone, capacityType, pricePerHour: price };
  }

  private sort(offerings: readonly CompiledOffering[], firstZone: number): Int32Array {
    const { prices, zones } = this;
    const order = new Int32Array(offerings.length);
    let filled = 0;
    for (let start = 0, end = 0; start < offerings.length; start = end) {
      const first = itemAt(offerings, start).index;
      const price = floatAt(prices, first);
      end = start + 1;
      while (end < offerings.length && floatAt(prices, itemAt(offerings, end).index) === price) end += 1;
      if (end === start + 1) {
        order[filled++] = first;
        continue;
      }
      for (let rank = 0; rank < RANKS; rank++) {
        for (let at = start; at < end; at++) {
          const { index } = itemAt(offerings, at);
          const zone = intAt(zones, index);
          const own = zone === firstZone ? 0 : zone < 0 ? 2 : 1;
          if (own === rank) order[filled++] = index;
        }
      }
    }
    return order;
  }

  private zoneNumber(zone: string): number {
    let number = this.zoneNumbers.get(zone);
    if (number === undefined) {
      number = this.zoneNumbers.size + 1;
      if (this.pool.regionalZones.has(zone)) number = -number;
      this.zoneNumbers.set(zone, number);
    }
    return number;
  }
}
