/**
 * The offerings of a state in the order in which a planned node would buy them: cheapest first; at one price those of a
 * preferred zone, then of other zones, then of no zone.
 */
import type { Alternative } from '../problem.ts';
import { itemAt } from '../rows.ts';
import type { CompiledOffering } from './compiledPool.ts';
import type { MachineState } from './stateTable.ts';

export interface OfferingOrder {
  /** By place: the instance type, and the reservation or -1. */
  readonly types: Int32Array;
  readonly reservations: Int32Array;
  /** By place: the offering as a solution names it. Solutions share these. */
  readonly alternatives: readonly Alternative[];
}

/** Preferred zone, another zone, no zone. */
const RANKS = 3;

export function offeringOrder({ offerings, pool }: MachineState, firstZone: string): OfferingOrder {
  const types = new Int32Array(offerings.length);
  const reservations = new Int32Array(offerings.length);
  const alternatives: Alternative[] = [];
  const add = ({ type, offering, reservation }: CompiledOffering): void => {
    types[alternatives.length] = type;
    reservations[alternatives.length] = reservation;
    const { zone, capacityType, price } = offering;
    alternatives.push({ instanceType: itemAt(pool.types, type).name, zone, capacityType, pricePerHour: price });
  };
  const rankOf = ({ offering }: CompiledOffering): number => {
    if (offering.zone === firstZone) return 0;
    return pool.regionalZones.has(offering.zone) ? 2 : 1;
  };
  let start = 0;
  while (start < offerings.length) {
    const { price } = itemAt(offerings, start).offering;
    let end = start + 1;
    while (end < offerings.length && itemAt(offerings, end).offering.price === price) end += 1;
    if (end === start + 1) add(itemAt(offerings, start));
    else {
      for (let rank = 0; rank < RANKS; rank++) {
        for (let at = start; at < end; at++) if (rankOf(itemAt(offerings, at)) === rank) add(itemAt(offerings, at));
      }
    }
    start = end;
  }
  return { types, reservations, alternatives };
}
