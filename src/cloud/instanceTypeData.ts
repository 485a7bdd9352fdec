/**
 * Instance types as plain data for transfer to another thread. Shared parts stay shared in the data, so that each is
 * copied once.
 */
import { Requirement, type RequirementItem } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import { Quantity, type QuantityFormat } from '../units/quantity.ts';
import type { Resources } from '../units/resources.ts';
import type { InstanceType, Offering } from './instanceType.ts';

/** One entry per requirement, in order. */
type RequirementsData = readonly (readonly RequirementItem[])[];

/** By resource, in billionths. Text would lose the print format of the amount. */
type ResourcesData = Readonly<Record<string, { readonly nano: bigint; readonly format: QuantityFormat }>>;

export interface InstanceTypeData {
  readonly name: string;
  readonly requirements: RequirementsData;
  readonly offerings: readonly (Omit<Offering, 'requirements'> & { readonly requirements: RequirementsData })[];
  readonly capacity: ResourcesData;
  readonly allocatable: ResourcesData;
}

export function instanceTypeData(types: readonly InstanceType[]): readonly InstanceTypeData[] {
  const itemsOf = remembered(orderedItems);
  const plain = remembered((requirements: Requirements): RequirementsData => Array.from(requirements, itemsOf));
  return types.map(({ name, requirements, offerings, capacity, allocatable }) => ({
    name,
    requirements: plain(requirements),
    offerings: offerings.map((each) => ({ ...each, requirements: plain(each.requirements) })),
    capacity: resourcesData(capacity),
    allocatable: resourcesData(allocatable),
  }));
}

/** Values keep their order, because searches iterate over them in that order. */
function orderedItems(requirement: Requirement): readonly RequirementItem[] {
  const values = [...requirement.values];
  return requirement
    .toItems()
    .map((item) => (item.operator === 'In' || item.operator === 'NotIn' ? { ...item, values } : item));
}

export function instanceTypesFrom(data: readonly InstanceTypeData[]): readonly InstanceType[] {
  const requirement = remembered((items: readonly RequirementItem[]): Requirement => {
    const [first, ...others] = items.map((item) => Requirement.fromItem(item));
    return others.reduce((joined, each) => joined.intersection(each), first ?? Requirement.none(''));
  });
  const made = remembered((items: RequirementsData): Requirements => Requirements.of(...items.map(requirement)));
  return data.map(({ name, requirements, offerings, capacity, allocatable }) => ({
    name,
    requirements: made(requirements),
    offerings: offerings.map((each) => ({ ...each, requirements: made(each.requirements) })),
    capacity: resourcesFrom(capacity),
    allocatable: resourcesFrom(allocatable),
  }));
}

const resourcesData = (resources: Resources): ResourcesData =>
  mapped(resources, (amount) => ({ nano: amount.nanoValue(), format: amount.format }));

const resourcesFrom = (data: ResourcesData): Resources =>
  mapped(data, ({ nano, format }) => Quantity.fromNano(nano, format));

const mapped = <From, To>(record: Readonly<Record<string, From>>, map: (from: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));

function remembered<From extends object, To>(make: (from: From) => To): (from: From) => To {
  const known = new Map<From, To>();
  return (from) => {
    const found = known.get(from);
    if (found !== undefined) return found;
    const to = make(from);
    known.set(from, to);
    return to;
  };
}
