import { beforeEach, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { Networks } from './networks.ts';
import { Operations } from './operations.ts';
import { ResourceStore, type ArmResource } from './resourceStore.ts';
import { SkuCatalogue } from '../../catalogue/skuCatalogue.ts';

describe('addresses of a subnet', () => {
  let networks: Networks;
  let subnet: ArmResource;

  beforeEach(() => {
    const clock = new VirtualClock(0);
    const random = new SeededRandom(1);
    const store = new ResourceStore('sub');
    networks = new Networks({
      clock,
      random,
      store,
      operations: new Operations(clock, random),
      catalogue: new SkuCatalogue('eastus'),
      location: 'eastus',
      durations: { networkInterface: 0, virtualMachineCreate: 0, virtualMachineDelete: 0, extension: 0 },
      endpoint: () => '',
    });
    const properties = { addressPrefix: '10.1.255.248/29' };
    subnet = { id: '/subnets/small', name: 'small', type: 'Microsoft.Network/x', etag: '', properties };
    store.put(subnet);
  });

  it('run out, and come back when they are released', () => {
    const drawn = [1, 2, 3].map(() => networks.allocate(subnet));
    expect(drawn).toEqual(['10.1.255.252', '10.1.255.253', '10.1.255.254']);
    expect(() => networks.allocate(subnet)).toThrow(expect.objectContaining({ code: 'SubnetIsFull' }) as Error);
    networks.release(subnet.id, '10.1.255.253');
    expect(networks.allocate(subnet)).toBe('10.1.255.253');
  });

  it('are not given again when an earlier process gave them', () => {
    networks.occupy(subnet.id, '10.1.255.252');
    networks.occupy(subnet.id, '10.1.255.254');
    expect(networks.allocate(subnet)).toBe('10.1.255.253');
    expect(() => networks.allocate(subnet)).toThrow('does not have enough capacity');
  });
});
