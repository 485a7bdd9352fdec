/**
 * Orders in which packing fills existing nodes: the first pods get that room, the rest needs new nodes. If the rest
 * asks mostly for one resource, only expensive types hold it.
 */
import type { SearchMode } from './draft.ts';
import type { PodClass } from './model/podClass.ts';
import { CPU, MEMORY } from './model/resourceTable.ts';
import type { PodPlan } from './planOnce.ts';
import { floatAt } from './rows.ts';

/** With more pods no other order is tried: each takes as long as the first, and other loops wait meanwhile. */
const MOST_PODS = 400;
/**
 * Loads whose sizes differ by less than this factor count as equal; among these, the one with more of the other
 * resource comes first.
 */
const WIDTHS = [1.25, 3];

/** Empty when every pod has a place without new nodes, or none has. */
export function roomOrders({ compiled, planned, onExisting }: PodPlan): readonly SearchMode['rank'][] {
  const { classes } = compiled;
  if (planned.length === 0 || onExisting.placed.size === 0) return [];
  if (classes.reduce((sum, { pods }) => sum + pods.length, 0) > MOST_PODS) return [];
  // If the pods on new nodes are heavier in one resource than all pods are, first give the existing room to pods heavy
  // in it.
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
  /** Column of the deciding resource, and of the one that breaks ties. */
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
