import { afterEach, beforeEach, expect, it } from 'vitest';
import { RecordedMetrics } from '../../test/fixtures/engine/recordedMetrics.ts';
import { ArmFixture } from '../../test/fixtures/local/armFixture.ts';
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import type { Kube } from '../kube/kube.ts';
import { SubnetAddresses } from './subnetAddresses.ts';

let azure: ArmFixture;

beforeEach(async () => {
  azure = await ArmFixture.start();
});
afterEach(() => azure.close());

it('counts what is used and what is left of the subnets that nodes join', async () => {
  const { network, arm, group } = azure;
  const { subnetId } = arm.network;
  const [, virtualNetwork = '', subnet = ''] = /virtualNetworks\/([^/]+)\/subnets\/([^/]+)$/.exec(subnetId) ?? [];
  await network.subnets.beginCreateOrUpdateAndWait(group, virtualNetwork, 'small', { addressPrefix: '10.225.0.0/28' });
  const small = subnetId.replace(/[^/]+$/, 'small');
  let classes = [{ spec: { vnetSubnetID: small } }, { spec: {} }] as unknown as readonly AksNodeClass[];
  const metrics = new RecordedMetrics();
  const addresses = new SubnetAddresses({
    network,
    subscriptionId: arm.subscriptionId,
    defaultSubnetId: subnetId,
    kube: { list: async () => ({ metadata: {}, items: [...classes] }) } as unknown as Pick<Kube, 'list'>,
    metrics,
  });
  const value = (name: string, of: string): number | undefined =>
    metrics.value(`nodewright_azure_subnet_addresses_${name}`, { subnet: `${virtualNetwork}/${of}` });
  await addresses.refresh();
  const before = { used: value('used', subnet) ?? 0, free: value('free', subnet) ?? 0 };
  expect(before.free).toBeGreaterThan(100);
  expect([value('used', 'small'), value('free', 'small')]).toEqual([0, 11]);
  await azure.createInterface('one');
  classes = [];
  await addresses.refresh();
  expect(value('used', subnet)).toBe(before.used + 1);
  expect(value('free', subnet)).toBe(before.free - 1);
  expect(value('free', 'small')).toBeUndefined();
});
