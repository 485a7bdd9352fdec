/** Purchase details and price of a node, derived from its labels. */
import { CapacityTypes, Labels } from '../api/labels.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { typesByName } from '../disruption/candidate.ts';
import { priceOf } from '../disruption/costs.ts';

type NodeLabels = Readonly<Record<string, string>>;
type Types = readonly InstanceType[];

/** Instance types to search for the node's type: those of its pool, else of a pool that offers it. */
export function typesOf(labels: NodeLabels, byPool: ReadonlyMap<string, Types>): Types | undefined {
  const instanceType = labels[Labels.instanceType] ?? '';
  const own = byPool.get(labels[Labels.nodePool] ?? '');
  return own ?? [...byPool.values()].find((each) => typesByName(each).has(instanceType));
}

/** Also for nodes without a pool; not spot unless labelled so. Empty: unknown. */
export function capacityTypeOf(labels: NodeLabels): string {
  return labels[Labels.capacityType] ?? (labels[Labels.nodePool] ? '' : CapacityTypes.onDemand);
}

/** US dollars per hour; 0 when unknown. */
export function nodePrice(labels: NodeLabels, types: Types | undefined): number {
  if (types === undefined) return 0;
  const instanceType = typesByName(types).get(labels[Labels.instanceType] ?? '');
  return priceOf(instanceType, labels[Labels.zone], capacityTypeOf(labels));
}
