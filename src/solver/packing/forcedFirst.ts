/**
 * A start for pods that must stand apart, when they force more nodes than the resources need. Each gets the cheapest node
 * that holds it, and that is filled before anything larger is bought: large nodes would take the pods that small ones,
 * which must be bought anyway, have room for.
 */
import { floatAt, intAt, itemAt } from '../rows.ts';
import type { Bin, Plan } from './bin.ts';
import { countsOf, orderByValue, type Demand } from './demand.ts';
import { Filler } from './filler.ts';
import { Greedy } from './greedy.ts';
import { queueOf } from './queue.ts';

/** `undefined` where limits per node force no more nodes than the resources do. */
export function packForcedFirst(demand: Demand): Plan | undefined {
  if (demand.nodeDual <= 0) return undefined;
  const { items, host, choice, value } = demand;
  const left = countsOf(demand);
  const order = orderByValue(items.keys(), value);
  const isForcing = (item: number): boolean => floatAt(host.share, item) > 0;
  const forcing = order.filter(isForcing);
  const others = order.filter((item) => !isForcing(item));
  // What stands apart comes last in the queue: hardly ever may a second one join.
  const queue = queueOf(Int32Array.of(...others, ...forcing), demand);
  const filler = new Filler(demand);
  const bins: Bin[] = [];
  for (const seed of forcing) {
    const { podClass, state } = itemAt(items, seed);
    const type = choice.cheapestHolding(state, podClass.row, podClass.shape.hostPorts, undefined);
    if (type < 0) continue;
    while (intAt(left, seed) > 0 && filler.fill(type, seed, queue, left, value, undefined)) {
      const bin = filler.bin(undefined);
      bins.push(bin);
      for (let at = 0; at < bin.items.length; at++) {
        const item = itemAt(bin.items, at);
        left[item] = intAt(left, item) - itemAt(bin.counts, at);
      }
    }
  }
  const rest = new Greedy(demand).pack(order, left, value, undefined);
  for (const bin of rest.bins) bins.push(bin);
  return { bins, left };
}
