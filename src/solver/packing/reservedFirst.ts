/**
 * Reserved machines are paid for already: they are filled before anything is bought. In: a demand, and how many machines
 * are left of each reservation; out: filled reserved machines. What they do not take stays in `left`.
 */
import { Labels } from '../../api/labels.ts';
import { Requirement } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import type { CompiledOffering } from '../model/compiledPool.ts';
import type { Bin } from './bin.ts';
import type { Demand } from './demand.ts';
import { Filler } from './filler.ts';
import { orderByValue } from './greedy.ts';
import { Queue } from './queue.ts';

const RESERVED = Requirements.of(Requirement.of(Labels.capacityType, 'In', ['reserved']));

/** `units` by name of reservation, `left` and `limitLeft` are used up. */
export function fillReserved(
  demand: Demand,
  units: Map<string, number>,
  left: Int32Array,
  limitLeft: Float64Array | undefined,
): Bin[] {
  const { pool, states } = demand;
  let offerings = pool.offerings.filter(({ reservation }) => reservation >= 0);
  const reserved = states.requirementId(RESERVED);
  // Who can have nothing else has the first claim, and gets it when the plan is made.
  const isNeeded = demand.states0.some((state) => states.narrow(state, reserved) === state);
  if (offerings.length === 0 || isNeeded) return [];
  const filler = new Filler(demand);
  const queue = new Queue(orderByValue(demand.atoms.keys(), demand.value), demand);
  const bins: Bin[] = [];
  for (;;) {
    let best: Bin | undefined;
    let mostSaved = 0;
    // Pods, machines and limits only become fewer: who takes nobody now never will.
    const open: CompiledOffering[] = [];
    for (const each of offerings) {
      if ((units.get(pool.reservations[each.reservation]!.id) ?? 0) < 1) continue;
      if (!demand.withinLimits(each.type, limitLeft)) continue;
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
    const { id } = pool.reservations[best.reservation]!;
    units.set(id, (units.get(id) ?? 0) - 1);
    for (let at = 0; at < best.atoms.length; at++) left[best.atoms[at]!]! -= best.counts[at]!;
    if (limitLeft) for (let at = 0; at < limitLeft.length; at++) limitLeft[at]! -= best.limitNeed[at]!;
  }
}

/** With the most valuable pod that may go there as the first. */
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
  for (const seed of queue.atoms) {
    if (left[seed]! < 1) continue;
    const start = states.pin(states.narrow(demand.states0[seed]!, reserved), Labels.zone, offering.zone);
    if (start < 0 || !filler.fill(type, seed, queue, left, demand.value, limitLeft, start)) continue;
    const bin = filler.bin(limitLeft);
    // The filling may have narrowed what the machine can be to other reservations.
    const isOffered = states
      .at(bin.state)
      .reserved.some((each) => each.type === type && each.reservation === reservation && each.offering === offering);
    if (!isOffered) continue;
    const limitNeed = demand.pool.limitUse.slice(type * bin.limitNeed.length, (type + 1) * bin.limitNeed.length);
    return { ...bin, type, price: offering.price, reservation, limitNeed };
  }
  return undefined;
}
