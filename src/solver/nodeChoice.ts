/** Why a planned node has its instance type: the pod that made a cheaper one too small, and the next types. */
import { podKey } from '../pods/podKey.ts';
import { amountOf } from './amount.ts';
import type { CompiledDemand } from './model/compiledDemand.ts';
import type { TypeChoice } from './packing/typeChoice.ts';
import type { OpenNode } from './placement/openNode.ts';
import type { NodeChoice, RejectedType } from './reasons.ts';

const NEXT_TYPES = 3;

export function explainChoice(node: OpenNode, compiled: CompiledDemand, demand: TypeChoice): NodeChoice {
  const { states, table } = compiled.model;
  const { price, types } = states.at(node.state);
  const nameOf = (type: number): string => node.pool.types[type]!.name;
  const lacking = (type: number): { column: number; missing: number } | undefined => {
    const room = node.pool.room.subarray(type * table.size, (type + 1) * table.size);
    const column = node.used.findIndex((used, at) => used > room[at]!);
    return column < 0 ? undefined : { column, missing: node.used[column]! - room[column]! };
  };
  // The dearest of the cheaper ones is the type that was nearly enough.
  const cheaper = [...types].filter((type) => price[type]! < node.price && lacking(type) !== undefined);
  const nearly = cheaper.at(-1);
  const bound = nearly === undefined ? undefined : lacking(nearly);
  const dearer = [...types].filter(
    (type) => type !== node.type && price[type]! >= node.price && demand.fits(type, node.used),
  );
  const others: RejectedType[] = [];
  if (nearly !== undefined && bound !== undefined) {
    const lacks = amountOf(table.names[bound.column]!, bound.missing);
    others.push({ instanceType: nameOf(nearly), pricePerHour: price[nearly]!, because: 'fit', lacks });
  }
  for (const type of dearer.slice(0, NEXT_TYPES - others.length)) {
    const morePerHour = price[type]! - node.price;
    others.push({ instanceType: nameOf(type), pricePerHour: price[type]!, because: 'price', morePerHour });
  }
  const missing = node.pool.types.findIndex(
    (_, type) => price[type] === Number.POSITIVE_INFINITY && demand.fits(type, node.used),
  );
  if (others.length < NEXT_TYPES && missing >= 0) {
    others.push({ instanceType: nameOf(missing), because: 'availability' });
  }
  const boundBy = bound && largestIn(node, bound.column);
  return {
    ...(boundBy !== undefined && { boundBy }),
    ...(bound && { boundByResource: table.names[bound.column]! }),
    others,
  };
}

function largestIn(node: OpenNode, column: number): string | undefined {
  let best = node.entries[0];
  for (const entry of node.entries) if (entry.podClass.row[column]! > best!.podClass.row[column]!) best = entry;
  const pod = best?.pods[0];
  return pod && podKey(pod);
}
