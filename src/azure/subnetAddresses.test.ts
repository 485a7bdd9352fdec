import { expect, it, onTestFinished } from 'vitest';
import { AzureFixture } from '../../test/fixtures/azure/azureFixture.ts';
import { RecordedMetrics } from '../../test/fixtures/engine/recordedMetrics.ts';
import { ArmFixture } from '../../test/fixtures/local/armFixture.ts';
import { ArmError } from '../local/arm/armError.ts';
import { parseSubnetId, type SubnetId } from './network.ts';
import { SubnetAddresses } from './subnetAddresses.ts';

const parsed = (id: string): SubnetId => {
  const found = parseSubnetId(id);
  if (found === undefined) throw new Error(`${id} is no subnet`);
  return found;
};
const shown = (metrics: RecordedMetrics, { virtualNetwork, subnet }: SubnetId): readonly (number | undefined)[] =>
  ['used', 'free'].map((name) =>
    metrics.value(`nodewright_azure_subnet_addresses_${name}`, { subnet: `${virtualNetwork}/${subnet}` }),
  );

it('counts what is used and what is left of the subnets that classes name', async () => {
  const azure = await ArmFixture.start();
  onTestFinished(() => azure.close());
  const { network, arm, group } = azure;
  const own = parsed(arm.network.subnetId);
  const small = { ...own, subnet: 'small' };
  await network.subnets.beginCreateOrUpdateAndWait(group, own.virtualNetwork, 'small', {
    addressPrefix: '10.225.0.0/28',
  });
  const metrics = new RecordedMetrics();
  const addresses = new SubnetAddresses(metrics);
  const see = async (nodeClass: string, id: SubnetId): Promise<void> =>
    addresses.saw(nodeClass, id, await network.subnets.get(group, id.virtualNetwork, id.subnet));
  await see('first', own);
  await see('second', small);
  const [used = 0, free = 0] = shown(metrics, own);
  expect(free).toBeGreaterThan(100);
  expect(shown(metrics, small)).toEqual([0, 11]);
  await azure.createInterface('one');
  // The second class moves: a subnet that no class names any more is not shown.
  await see('second', own);
  expect(shown(metrics, own)).toEqual([used + 1, free - 1]);
  expect(shown(metrics, small)).toEqual([undefined, undefined]);
  addresses.forget('first');
  expect(shown(metrics, own)).toEqual([used + 1, free - 1]);
  addresses.forget('second');
  expect(shown(metrics, own)).toEqual([undefined, undefined]);
});

it('are those that the status of a class has seen, until the class is gone or its subnet is wrong', async () => {
  const metrics = new RecordedMetrics();
  const fixture = await AzureFixture.start({ metrics });
  onTestFinished(() => fixture.close());
  const own = parsed(fixture.arm.network.subnetId);
  await fixture.makeNodeClass('one');
  expect(shown(metrics, own)[1]).toBeGreaterThan(100);
  fixture.cloud.nodeClass.forget('one');
  expect(shown(metrics, own)[1]).toBeUndefined();
  const two = await fixture.makeNodeClass('two');
  expect(shown(metrics, own)[1]).toBeGreaterThan(100);
  fixture.failNext('subnets.get', {
    kind: 'refuse',
    error: new ArmError(404, 'NotFound', 'there is no such subnet'),
  });
  await fixture.reconcile(two);
  expect(shown(metrics, own)[1]).toBeUndefined();
});
