/**
 * Reserved machines. In: the planned nodes; out: the same nodes, those on reserved machines that save most by it, as
 * far as the reservations go. Pods that can run nowhere else and come too late wait again.
 */
import { hostPortsClash } from '../constraints/hostPorts.ts';
import type { CompiledOffering } from './model/compiledPool.ts';
import type { Model } from './model/model.ts';
import type { Waiting } from './placement/assignment.ts';
import type { PlannedNode } from './placement/plannedNode.ts';

export function takeReservations(planned: PlannedNode[], model: Model): Waiting[] {
  if (model.pools.every(({ reservations }) => reservations.length === 0)) return [];
  // By its name: pools that draw on the same reservation draw on the same machines.
  const left = new Map<string, number>();
  for (const { id, left: units } of model.pools.flatMap(({ reservations }) => reservations)) {
    left.set(id, Math.min(units, left.get(id) ?? units));
  }
  const wishes = planned.flatMap((node) => {
    const state = model.states.at(node.state);
    const needed = state.offerings.length === state.reserved.length;
    // One reservation is no choice: who must leave the cloud one cannot take it.
    if (state.minValues.length > 0 && !needed) return [];
    return state.reserved
      .filter((each) => holds(node, each) && (needed || each.offering.price < node.price))
      .map((each) => ({ node, each, needed, saves: node.price - each.offering.price }));
  });
  // Who has no other way comes first.
  wishes.sort((one, other) => Number(other.needed) - Number(one.needed) || other.saves - one.saves);
  for (const { node, each } of wishes) {
    const { id } = node.pool.reservations[each.reservation]!;
    const units = left.get(id) ?? 0;
    if (node.reservation >= 0 || units < 1) continue;
    left.set(id, units - 1);
    node.reservation = each.reservation;
    node.type = each.type;
    node.price = each.offering.price;
  }
  const stranded = planned.filter(({ state, reservation }) => {
    const { offerings, reserved } = model.states.at(state);
    return reservation < 0 && offerings.length === reserved.length;
  });
  for (const node of stranded) planned.splice(planned.indexOf(node), 1);
  return stranded.flatMap(({ entries }) => entries.map(({ podClass, pods }) => ({ podClass, pods: [...pods] })));
}

/** A machine that counts more against the limits than the one planned may not take its place. */
function holds(node: PlannedNode, { type }: CompiledOffering): boolean {
  const { pool, used, ports, limitNeed } = node;
  const width = limitNeed.length;
  return (
    used.every((amount, column) => amount <= pool.room[type * used.length + column]!) &&
    limitNeed.every((amount, at) => pool.limitUse[type * width + at]! <= amount) &&
    !pool.daemonPorts[type]!.some((taken) => ports.some((port) => hostPortsClash(port, taken)))
  );
}
