/** Reserved capacity is already paid for: it is filled before anything is bought, as long as a filling saves money. */
import { Labels } from '../../api/labels.ts';
import { Requirement } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import type { CompiledOffering } from '../model/compiledPool.ts';
import type { Bin } from './bin.ts';
import { addRow, intAt, itemAt } from '../rows.ts';
import { orderByValue, type Demand } from './demand.ts';
import { Filler } from './filler.ts';
import { queueOf, type Queue } from './queue.ts';

const RESERVED = Requirements.of(Requirement.of(Labels.capacityType, 'In', ['reserved']));

/** Takes placed pods and nodes from `units` (instances left by reservation), `left` (pods by item) and `limitLeft`. */
export function fillReserved(
  demand: Demand,
  units: Map<string, number>,
  left: Int32Array,
  limitLeft: Float64Array | undefined,
): Bin[] {
  const { pool, states } = demand;
  let offerings = pool.offerings.filter(({ reservation }) => reservation >= 0);
  const reserved = states.requirementId(RESERVED);
  // Pods that require reserved capacity come first; they get it after the whole plan is made.
  const isNeeded = demand.stateOf.some((state) => states.narrow(state, reserved) === state);
  if (offerings.length === 0 || isNeeded) return [];
  const filler = new Filler(demand);
  const queue = queueOf(orderByValue(demand.items.keys(), demand.value), demand);
  const bins: Bin[] = [];
  for (;;) {
    let best: Bin | undefined;
    let mostSaved = 0;
    // Pods, units and limits only shrink, so an offering that takes no pod now never will.
    const open: CompiledOffering[] = [];
    for (const each of offerings) {
      if ((units.get(itemAt(pool.reservations, each.reservation).id) ?? 0) < 1) continue;
      if (!demand.choice.withinLimits(each.type, limitLeft)) continue;
      const found = fillOne(demand, filler, queue, each, left, limitLeft);
      if (found === undefined) continue;
      open.push(each);
      if (filler.value - each.offering.price <= mostSaved) continue;
      mostSaved = filler.value - each.offering.price;
      best = found;
    }
    if (best === undefined) return bins;
    offerings = open;
    bins.push(best);
    const { id } = itemAt(pool.reservations, best.reservation);
    units.set(id, (units.get(id) ?? 0) - 1);
    const { counts } = best;
    best.items.forEach((item, at) => (left[item] = intAt(left, item) - itemAt(counts, at)));
    if (limitLeft) addRow(limitLeft, best.limitNeed, -1);
  }
}

/** Fills one node of the offering, starting with the most valuable pod that fits. */
function fillOne(
  demand: Demand,
  filler: Filler,
  queue: Queue,
  { type, offering, reservation }: CompiledOffering,
  left: Int32Array,
  limitLeft: Float64Array | undefined,
): Bin | undefined {
  const { states } = demand;
  const reserved = states.requirementId(RESERVED);
  for (const seed of queue.items) {
    if (intAt(left, seed) < 1) continue;
    const start = states.pin(states.narrow(intAt(demand.stateOf, seed), reserved), Labels.zone, offering.zone);
    if (start < 0 || !filler.fill(type, seed, queue, left, demand.value, limitLeft, start)) continue;
    const bin = filler.bin(limitLeft);
    // The filling may have narrowed the node to other reservations.
    const isOffered = states
      .at(bin.state)
      .reserved.some((each) => each.type === type && each.reservation === reservation && each.offering === offering);
    if (!isOffered) continue;
    const limitNeed = demand.pool.limitUse.slice(type * bin.limitNeed.length, (type + 1) * bin.limitNeed.length);
    return { ...bin, type, price: offering.price, reservation, limitNeed };
  }
  return undefined;
}
