/** How a node is sold, as its labels say, and what that costs. */
import { CapacityTypes, Labels } from '../api/labels.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { typesByName } from '../disruption/candidate.ts';
import { priceOf } from '../disruption/costs.ts';

type NodeLabels = Readonly<Record<string, string>>;
type Types = readonly InstanceType[];

/** The instance types among which that of the node is: those of its pool, else those of a pool that can buy it. */
export function typesOf(labels: NodeLabels, byPool: ReadonlyMap<string, Types>): Types | undefined {
  const instanceType = labels[Labels.instanceType] ?? '';
  const own = byPool.get(labels[Labels.nodePool] ?? '');
  return own ?? [...byPool.values()].find((each) => typesByName(each).has(instanceType));
}

/** A node that no pool has made is sold as any other; it is not spot unless it says so. Empty: not known. */
export function capacityTypeOf(labels: NodeLabels): string {
  return labels[Labels.capacityType] ?? (labels[Labels.nodePool] ? '' : CapacityTypes.onDemand);
}

/** US dollars per hour; 0 when it is not known. */
export function nodePrice(labels: NodeLabels, types: Types | undefined): number {
  if (types === undefined) return 0;
  const instanceType = typesByName(types).get(labels[Labels.instanceType] ?? '');
  return priceOf(instanceType, labels[Labels.zone], capacityTypeOf(labels));
}
