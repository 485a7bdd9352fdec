/** An instance type as Karpenter's scheduler is told of it. */
import type { InstanceType } from '../../src/cloud/instanceType.ts';
import { formatResources } from '../../src/units/resources.ts';

export function wireType({ name, requirements, capacity, allocatable, offerings }: InstanceType): object {
  return {
    name,
    requirements: requirements.toItems(),
    capacity: formatResources(capacity),
    allocatable: formatResources(allocatable),
    offerings: offerings.map((offering) => ({
      requirements: offering.requirements.toItems(),
      price: offering.price,
      available: offering.available,
    })),
  };
}
