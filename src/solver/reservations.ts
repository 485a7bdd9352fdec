/**
 * Assigns reserved capacity to the planned nodes that save most by it, up to the reserved count. Pods that require
 * reserved capacity and get none wait; in strict mode so do pods that could use a reservation which this plan uses up.
 */
import { hostPortsClash } from '../pods/hostPorts.ts';
import type { CompiledOffering } from './model/compiledPool.ts';
import type { Model } from './model/model.ts';
import type { PendingPods } from './placement/assignment.ts';
import type { OpenNode } from './placement/openNode.ts';
import type { UnplacedReason } from './reasons.ts';
import { isWithin, itemAt, Rows } from './rows.ts';

export interface Taken {
  /** Unplaced pods. */
  readonly stranded: readonly PendingPods[];
  /** Those around which other pods were placed: without them the plan may be wrong. */
  readonly missed: readonly { readonly waiting: PendingPods; readonly reason: UnplacedReason }[];
  /** Pods that wait for the next plan. */
  readonly deferred: readonly { readonly waiting: PendingPods; readonly reason: UnplacedReason }[];
}

/** Units left by reservation name: pools that use the same reservation share its units. */
export function reservedUnits({ pools }: Model): Map<string, number> {
  const left = new Map<string, number>();
  for (const { id, left: units } of pools.flatMap(({ reservations }) => reservations)) {
    left.set(id, Math.min(units, left.get(id) ?? units));
  }
  return left;
}

export function takeReservations(planned: OpenNode[], model: Model, isStrict: boolean): Taken {
  if (model.pools.every(({ reservations }) => reservations.length === 0))
    return { stranded: [], missed: [], deferred: [] };
  const left = reservedUnits(model);
  for (const { pool, reservation } of planned) {
    if (reservation < 0) continue;
    const { id } = itemAt(pool.reservations, reservation);
    left.set(id, (left.get(id) ?? 0) - 1);
  }
  const wishes = planned.flatMap((node) => {
    const state = model.states.at(node.state);
    const needed = state.offerings.length === state.reserved.length;
    return state.reserved
      .filter((each) => holds(node, each) && (needed || isBetter(node, each, model)))
      .map((each) => ({ node, each, needed, saves: node.price - each.offering.price }));
  });
  // Nodes that must be reserved come first.
  wishes.sort((one, other) => Number(other.needed) - Number(one.needed) || other.saves - one.saves);
  for (const { node, each } of wishes) {
    const { id } = itemAt(node.pool.reservations, each.reservation);
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
  const deferred = !isStrict
    ? []
    : planned.flatMap((node) => {
        const usedUp = usedUpFor(node, model);
        return usedUp.length === 0 ? [] : [{ node, reservations: usedUp }];
      });
  for (const { node } of deferred) planned.splice(planned.indexOf(node), 1);
  return {
    stranded: stranded.flatMap(waitingOf),
    missed: stranded.filter(isCounted).flatMap((node) => {
      const { reserved } = model.states.at(node.state);
      return waitingFor(
        node,
        reserved.map(({ reservation }) => reservation),
      );
    }),
    deferred: deferred.flatMap(({ node, reservations }) => waitingFor(node, reservations)),
  };
}

function waitingFor(node: OpenNode, reservations: readonly number[]): Taken['deferred'] {
  const ids = [...new Set(reservations.map((each) => itemAt(node.pool.reservations, each).id))].sort();
  return waitingOf(node).map((waiting) => ({
    waiting,
    reason: { kind: 'reservation', pool: node.pool.name, reservations: ids },
  }));
}

/** Other pods were placed depending on the pods of this node. */
function isCounted({ entries }: OpenNode): boolean {
  return entries.some(({ podClass, variant }) => podClass.hostAdds.length > 0 || variant.domainAdds.length > 0);
}

function waitingOf({ entries }: OpenNode): PendingPods[] {
  return entries.map(({ podClass, pods }) => ({ podClass, pods: [...pods] }));
}

/** Reservations that had units left before this plan and would have been cheaper for the node. */
function usedUpFor(node: OpenNode, model: Model): number[] {
  if (node.reservation >= 0 || isCounted(node)) return [];
  return model.states
    .at(node.state)
    .reserved.filter((each) => holds(node, each) && isBetter(node, each, model))
    .map(({ reservation }) => reservation)
    .filter((reservation) => itemAt(node.pool.reservations, reservation).left >= 1);
}

/** Cheaper, and with enough choice of types for the pool's minValues. */
function isBetter(node: OpenNode, { offering, reservation }: CompiledOffering, model: Model): boolean {
  if (offering.price >= node.price) return false;
  const { minValues, reserved } = model.states.at(node.state);
  return minValues.every(({ key, atLeast }) => {
    const choice = reserved.filter((each) => each.reservation === reservation && holds(node, each));
    const values = choice.flatMap(({ type, offering: { requirements } }) => [
      ...(requirements.find(key) ?? itemAt(node.pool.types, type).requirements.get(key)).values,
    ]);
    return new Set(values).size >= atLeast;
  });
}

/** False if the reserved type uses more of the limits than the planned one. */
function holds(node: OpenNode, { type }: CompiledOffering): boolean {
  const { pool, used, ports, limitNeed } = node;
  const width = limitNeed.length;
  return (
    new Rows(used.length, pool.room).holds(type, used) &&
    isWithin(new Rows(width, pool.limitUse).row(type), limitNeed) &&
    !itemAt(pool.daemonPorts, type).some((taken) => ports.some((port) => hostPortsClash(port, taken)))
  );
}
