/** The fast path: assigns classes to pools and domains where that can be decided per class, and packs pool by pool. */
import type { Pod } from '../api/kinds.ts';
import type { HostPort } from '../pods/hostPorts.ts';
import type { Draft } from './draft.ts';
import { takeFromLimits, type CompiledPool } from './model/compiledPool.ts';
import type { Bin } from './packing/bin.ts';
import { demandOf, type Demand } from './packing/demand.ts';
import { Improver } from './packing/improve.ts';
import type { Item } from './packing/item.ts';
import { packPool } from './packing/packPool.ts';
import { fillReserved } from './packing/reservedFirst.ts';
import { Assignment, isSequential } from './placement/assignment.ts';
import type { OpenNode } from './placement/openNode.ts';
import type { SolveOptions } from './problem.ts';
import { reservedUnits } from './reservations.ts';

const DEFAULT_ROUNDS = 200;

/** Returns the rounds of improvement; undefined when the result is not valid. */
export function packAll(draft: Draft, options: SolveOptions): number | undefined {
  const { compiled, domains, onExisting, fit, packing, planned, limitLeft } = draft;
  const { model } = compiled;
  const able = draft.waiting.filter(({ podClass }) => podClass.shape.unsupported === undefined);
  const assignment = new Assignment(compiled, domains, onExisting, fit);
  assignment.run(able, 0);
  const { timeBudgetMs, now, searchRounds = DEFAULT_ROUNDS } = options;
  const improver = new Improver({
    rounds: searchRounds,
    now,
    deadline: now === undefined || timeBudgetMs === undefined ? Number.POSITIVE_INFINITY : now() + timeBudgetMs,
  });
  // No reserved nodes when pods with hostname affinity may have to join them later: a reserved node cannot grow.
  const reserved = compiled.classes.some(isSequential) ? undefined : reservedUnits(model);
  for (const pool of model.pools) {
    const items = assignment.items[pool.index] ?? [];
    if (items.length === 0) continue;
    items.sort((left, right) => left.podClass.id - right.podClass.id || model.states.compare(left.state, right.state));
    const lists = items.map((item) => assignment.podsOf.get(item) ?? []);
    const { rest, pods } =
      reserved === undefined ? { rest: items, pods: lists } : openReserved(draft, pool, items, lists, reserved);
    let isLeft = false;
    for (const part of options.keepsPrioritiesApart === true
      ? byPriority(rest, pods)
      : [{ items: rest, lists: pods }]) {
      const demand = demandOf(pool, model.states, part.items, model.table.size, packing);
      const { bins, left } = packPool(demand, limitLeft[pool.index], improver);
      const next = new Int32Array(part.items.length);
      for (const bin of bins) planned.push(openNode(bin, demand, part.lists, next, limitLeft));
      if (left.every((count) => count === 0)) continue;
      // Pods were counted in domains where they then found no node, so decisions based on those counts may be wrong.
      if (part.items.some(({ variant }, item) => (left[item] ?? 0) > 0 && variant.domainAdds.length > 0)) {
        return undefined;
      }
      isLeft = true;
      for (const entry of able) {
        part.items.forEach((item, index) => {
          if (item.podClass !== entry.podClass || (left[index] ?? 0) === 0) return;
          entry.pods.push(...(part.lists[index] ?? []).slice(next[index]));
        });
      }
    }
    if (!isLeft) continue;
    assignment.run(able, pool.index + 1);
  }
  return improver.rounds;
}

/** Items packed together, with the pods of each. */
interface Part {
  readonly items: Item[];
  readonly lists: (readonly Pod[])[];
}

/** Highest priority first, so that it gets the limits. */
function byPriority(items: readonly Item[], lists: readonly (readonly Pod[])[]): readonly Part[] {
  const parts = new Map<number, Part>();
  items.forEach((item, at) => {
    const { priority } = item.podClass.shape;
    const part = parts.get(priority) ?? { items: [], lists: [] };
    parts.set(priority, part);
    part.items.push(item);
    part.lists.push(lists[at] ?? []);
  });
  return [...parts].sort(([one], [other]) => other - one).map(([, part]) => part);
}

/** Plans reserved nodes; returns the items left over, with their pods. */
function openReserved(
  { compiled, planned, limitLeft, packing }: Draft,
  pool: CompiledPool,
  items: readonly Item[],
  lists: readonly (readonly Pod[])[],
  units: Map<string, number>,
): { rest: readonly Item[]; pods: readonly (readonly Pod[])[] } {
  if (pool.reservations.length === 0) return { rest: items, pods: lists };
  const { states, table } = compiled.model;
  const demand = demandOf(pool, states, items, table.size, packing);
  const next = new Int32Array(items.length);
  const left = Int32Array.from(items, ({ count }) => count);
  const bins = fillReserved(demand, units, left, limitLeft[pool.index]?.slice());
  for (const bin of bins) planned.push(openNode(bin, demand, lists, next, limitLeft));
  const rest: Item[] = [];
  const pods: (readonly Pod[])[] = [];
  items.forEach((item, at) => {
    const count = left[at] ?? 0;
    if (count === 0) return;
    rest.push({ ...item, count });
    pods.push((lists[at] ?? []).slice(next[at]));
  });
  return { rest, pods };
}

/** Moves the bin's pods from the lists, each from its `next` on, and subtracts the node from the limits. */
function openNode(
  bin: Bin,
  { items, pool }: Demand,
  pods: readonly (readonly Pod[])[],
  next: Int32Array,
  limitLeft: Draft['limitLeft'],
): OpenNode {
  const entries: OpenNode['entries'] = [];
  const ports: HostPort[] = [];
  for (let at = 0; at < bin.items.length; at++) {
    const index = bin.items[at] ?? 0;
    const item = items[index];
    const list = pods[index];
    if (item === undefined || list === undefined) throw new RangeError(`bin names item ${index} of ${items.length}`);
    const from = next[index] ?? 0;
    const to = from + (bin.counts[at] ?? 0);
    next[index] = to;
    entries.push({ podClass: item.podClass, variant: item.variant, pods: list.slice(from, to) });
    for (const port of item.podClass.shape.hostPorts) ports.push(port);
  }
  takeFromLimits(limitLeft, pool, bin.limitNeed);
  return {
    pool,
    state: bin.state,
    type: bin.type,
    price: bin.price,
    reservation: bin.reservation,
    limitNeed: bin.limitNeed,
    used: bin.used.slice(),
    entries,
    ports,
    host: undefined,
  };
}
