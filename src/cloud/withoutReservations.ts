import type { CloudProvider } from './cloudProvider.ts';
import type { InstanceType } from './instanceType.ts';

/** Wraps the provider without reserved offerings, while their feature gate is off. */
export function withoutReservations(cloud: CloudProvider): CloudProvider {
  return {
    name: cloud.name,
    nodeClasses: cloud.nodeClasses,
    repairPolicies: cloud.repairPolicies,
    quotas: (unlaunched) => cloud.quotas?.(unlaunched) ?? new Map(),
    create: (request, signal) => {
      const { view = (types: readonly InstanceType[]) => types } = request;
      return cloud.create({ ...request, view: (types) => view(types).map(unreserved) }, signal);
    },
    delete: (...request) => cloud.delete(...request),
    get: (...request) => cloud.get(...request),
    list: (...request) => cloud.list(...request),
    driftReason: (...request) => cloud.driftReason(...request),
    instanceTypes: async (...request) => (await cloud.instanceTypes(...request)).map(unreserved),
  };
}

/** A type without reserved offerings stays the same object, so that caches by identity keep working. */
function unreserved(type: InstanceType): InstanceType {
  if (type.offerings.every(({ capacityType }) => capacityType !== 'reserved')) return type;
  return { ...type, offerings: type.offerings.filter(({ capacityType }) => capacityType !== 'reserved') };
}
