import type { CloudProvider } from './cloudProvider.ts';
import type { InstanceType } from './instanceType.ts';

/** The same cloud without reserved offerings: capacity reservations are left alone while their feature gate is off. */
export function withoutReservations(cloud: CloudProvider): CloudProvider {
  return {
    name: cloud.name,
    nodeClasses: cloud.nodeClasses,
    repairPolicies: cloud.repairPolicies,
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

function unreserved(type: InstanceType): InstanceType {
  return { ...type, offerings: type.offerings.filter(({ capacityType }) => capacityType !== 'reserved') };
}
