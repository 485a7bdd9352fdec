import { expect, it } from 'vitest';
import { Requirements } from '../constraints/requirements.ts';
import type { CloudProvider, LaunchRequest } from './cloudProvider.ts';
import type { InstanceType, Offering } from './instanceType.ts';
import { withoutReservations } from './withoutReservations.ts';

const offering = (capacityType: Offering['capacityType']): Offering => ({
  requirements: Requirements.empty,
  zone: 'a',
  capacityType,
  price: 1,
  available: true,
});
const type: InstanceType = {
  name: 'large',
  requirements: Requirements.empty,
  offerings: [offering('reserved'), offering('on-demand')],
  capacity: {},
  allocatable: {},
};

it('offers and launches nothing that is reserved', async () => {
  let launched: readonly InstanceType[] = [];
  const cloud = {
    instanceTypes: async () => [type],
    create: async ({ view }: LaunchRequest) => {
      launched = view?.([type]) ?? [type];
      return { providerID: 'x' };
    },
  } as unknown as CloudProvider;
  const unreserved = withoutReservations(cloud);
  const offered = await unreserved.instanceTypes({} as never, {} as never);
  await unreserved.create({ claim: {} as never, nodeClass: {} as never });
  for (const types of [offered, launched]) {
    expect(types[0]?.offerings.map(({ capacityType }) => capacityType)).toEqual(['on-demand']);
  }
});
