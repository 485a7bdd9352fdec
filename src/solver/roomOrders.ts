/**
 * Orders in which packing takes pods where existing nodes have room: those that come first get that room, the rest needs
 * new nodes. Taken by one resource alone, what is left asks for much of the other one, and only dear types hold it.
 */
import type { SearchMode } from './draft.ts';
import type { PodClass } from './model/podClass.ts';
import { CPU, MEMORY } from './model/resourceTable.ts';
import type { PodPlan } from './planOnce.ts';
import { floatAt } from './rows.ts';

/** Beyond so many pods no other order is tried: each takes as long as the first, and other loops wait meanwhile. */
const MOST_PODS = 400;
/** Loads whose sizes differ by less than this factor are taken as alike, and the one that asks for more of the other first. */
const WIDTHS = [1.25, 3];

/** None where every pod has a place without new nodes, or none has one. */
export function roomOrders({ compiled, planned, onExisting }: PodPlan): readonly SearchMode['rank'][] {
  const { classes } = compiled;
  if (planned.length === 0 || onExisting.placed.size === 0) return [];
  if (classes.reduce((sum, { pods }) => sum + pods.length, 0) > MOST_PODS) return [];
  // Pods that existing nodes leave need more of one resource, in proportion, than all pods do: first give room to pods heavy in it.
  const [size, other] = memoryShare(leftFor(planned)) > memoryShare(demandOf(classes)) ? [CPU, MEMORY] : [MEMORY, CPU];
  return WIDTHS.map((width) => rankBy(classes, { size, other, width }));
}

interface Amounts {
  readonly cpu: number;
  readonly memory: number;
}

const memoryShare = ({ cpu, memory }: Amounts): number => memory / Math.max(1, cpu);

const demandOf = (classes: readonly PodClass[]): Amounts =>
  sumOf(classes.map(({ row, pods }) => ({ row, count: pods.length })));

const leftFor = (planned: PodPlan['planned']): Amounts =>
  sumOf(
    planned.flatMap(({ entries }) => entries.map(({ podClass, pods }) => ({ row: podClass.row, count: pods.length }))),
  );

function sumOf(loads: readonly { readonly row: Float64Array; readonly count: number }[]): Amounts {
  let [cpu, memory] = [0, 0];
  for (const { row, count } of loads) {
    cpu += count * floatAt(row, CPU);
    memory += count * floatAt(row, MEMORY);
  }
  return { cpu, memory };
}

interface Order {
  /** Columns of the resource that decides, and of the one that decides among loads that are alike. */
  readonly size: number;
  readonly other: number;
  readonly width: number;
}

/** Higher priority first, as the scheduler takes them. */
function rankBy(classes: readonly PodClass[], { size, other, width }: Order): SearchMode['rank'] {
  const sized = classes.map(({ id, shape, row }) => ({
    id,
    priority: shape.priority,
    step: Math.round(Math.log(Math.max(1, floatAt(row, size))) / Math.log(width)),
    more: floatAt(row, other),
  }));
  sized.sort(
    (left, right) =>
      right.priority - left.priority || right.step - left.step || right.more - left.more || left.id - right.id,
  );
  const places = new Map(sized.map(({ id }, place) => [id, place]));
  return ({ id }) => places.get(id) ?? 0;
}
