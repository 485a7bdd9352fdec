/** Why a planned machine is of its type. In: the node; out: the pod that bound its size, and the next types. */
import { podKey } from '../pods/podKey.ts';
import { readableAmount } from './amount.ts';
import type { CompiledDemand } from './model/compiledDemand.ts';
import type { TypeChoice } from './packing/typeChoice.ts';
import type { OpenNode } from './placement/openNode.ts';
import type { NodeChoice, RejectedType } from './problem.ts';

const NEXT_TYPES = 3;

export function explainChoice(node: OpenNode, compiled: CompiledDemand, demand: TypeChoice): NodeChoice {
  const { states, table } = compiled.model;
  const { price, types } = states.at(node.state);
  const lacking = (type: number): { column: number; missing: number } | undefined => {
    const room = node.pool.room.subarray(type * table.size, (type + 1) * table.size);
    const column = node.used.findIndex((used, at) => used > room[at]!);
    return column < 0 ? undefined : { column, missing: node.used[column]! - room[column]! };
  };
  const amount = (column: number, units: number): string =>
    `${readableAmount(table.names[column]!, units)} ${table.names[column]!}`;
  // The dearest of the cheaper ones is the size that was nearly enough.
  const cheaper = [...types].filter((type) => price[type]! < node.price && lacking(type) !== undefined);
  const nearly = cheaper.at(-1);
  const dearer = [...types].filter(
    (type) => type !== node.type && price[type]! >= node.price && demand.fits(type, node.used),
  );
  const others: RejectedType[] = [];
  for (const type of cheaper.slice(-1)) {
    const { column, missing } = lacking(type)!;
    const name = node.pool.types[type]!.name;
    others.push({
      instanceType: name,
      pricePerHour: price[type]!,
      because: 'fit',
      detail: `${name} lacks ${amount(column, missing)}`,
    });
  }
  for (const type of dearer.slice(0, NEXT_TYPES - others.length)) {
    const name = node.pool.types[type]!.name;
    const more = price[type]! - node.price;
    others.push({
      instanceType: name,
      pricePerHour: price[type]!,
      because: 'price',
      detail: more > 0 ? `${name} costs ${more.toFixed(4)} dollars more per hour` : `${name} costs the same`,
    });
  }
  const missing = node.pool.types.findIndex(
    (_, type) => price[type] === Number.POSITIVE_INFINITY && demand.fits(type, node.used),
  );
  if (others.length < NEXT_TYPES && missing >= 0) {
    const name = node.pool.types[missing]!.name;
    others.push({
      instanceType: name,
      pricePerHour: undefined,
      because: 'availability',
      detail: `${name} is not offered for what these pods require`,
    });
  }
  const bound = nearly === undefined ? undefined : lacking(nearly);
  return {
    boundBy: bound && largestIn(node, bound.column),
    boundByResource: bound && table.names[bound.column],
    others,
  };
}

function largestIn(node: OpenNode, column: number): NodeChoice['boundBy'] {
  let best = node.entries[0];
  for (const entry of node.entries) if (entry.podClass.row[column]! > best!.podClass.row[column]!) best = entry;
  const pod = best?.pods[0];
  return pod && podKey(pod);
}
