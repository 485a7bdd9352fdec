/**
 * Start for pods that must run apart, when they force more nodes than the resources need. Each gets the cheapest node
 * that holds it, and these nodes are filled before larger ones are bought: otherwise large nodes take pods for which
 * the small, forced nodes have room.
 */
import { floatAt, intAt, itemAt } from '../rows.ts';
import { repeats, type Bin, type Plan } from './bin.ts';
import { countsOf, orderByValue, type Demand } from './demand.ts';
import { Filler } from './filler.ts';
import { Greedy } from './greedy.ts';
import { queueOf } from './queue.ts';

/** Minimum share of all pods, by value, that the forced nodes must hold: below it, large nodes do better. */
const MOSTLY_FORCED = 0.25;

/**
 * `undefined` where limits per node force no more nodes than the resources do, or where the forced nodes hold little.
 */
export function packForcedFirst(demand: Demand): Plan | undefined {
  if (demand.nodeDual <= 0) return undefined;
  const { items, host, choice, value } = demand;
  const left = countsOf(demand);
  const order = orderByValue(items.keys(), value);
  const isForcing = (item: number): boolean => floatAt(host.share, item) > 0;
  const forcing = order.filter(isForcing);
  const others = order.filter((item) => !isForcing(item));
  // Pods that must run apart go to the end of the queue: a second one hardly ever fits on a node.
  const queued = new Int32Array(order.length);
  queued.set(others);
  queued.set(forcing, others.length);
  let queue = queueOf(queued, demand);
  let gone = 0;
  const filler = new Filler(demand);
  const bins: Bin[] = [];
  for (const seed of forcing) {
    const { podClass, state } = itemAt(items, seed);
    const type = choice.cheapestHolding(state, podClass.row, podClass.shape.hostPorts, undefined);
    if (type < 0) continue;
    while (intAt(left, seed) > 0 && filler.fill(type, seed, queue, left, value, undefined)) {
      const bin = filler.bin(undefined);
      const times = repeats(bin, left);
      for (let each = 0; each < times; each++) bins.push(bin);
      for (let at = 0; at < bin.items.length; at++) {
        const item = itemAt(bin.items, at);
        const waiting = intAt(left, item) - times * itemAt(bin.counts, at);
        left[item] = waiting;
        if (waiting === 0) gone += 1;
      }
      if (gone * 2 <= queue.items.length) continue;
      queue = queueOf(
        queue.items.filter((item) => intAt(left, item) > 0),
        demand,
      );
      gone = 0;
    }
  }
  if (worthOf(demand, left) > (1 - MOSTLY_FORCED) * worthOf(demand, countsOf(demand))) return undefined;
  const rest = new Greedy(demand).pack(order, left, value, undefined);
  for (const bin of rest.bins) bins.push(bin);
  return { bins, left };
}

function worthOf({ value }: Demand, counts: Int32Array): number {
  let worth = 0;
  for (let item = 0; item < counts.length; item++) worth += intAt(counts, item) * floatAt(value, item);
  return worth;
}
