import { expect, it } from 'vitest';
import { AzureFixture } from '../../test/fixtures/azure/azureFixture.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Labels } from '../api/labels.ts';
import { ArmError } from '../local/arm/armError.ts';
import { beginOperation, finishOperation } from './operations.ts';

const SIZE = 'Standard_D2s_v3';
const compare = (left: string, right: string): number => left.localeCompare(right);

/** A group with a reservation of two instances in zone 1, and a provider that may draw on it. */
async function started(): Promise<{ readonly fixture: AzureFixture; readonly group: string }> {
  const fixture = await AzureFixture.start();
  const { arm, clock } = fixture;
  const { capacityReservationGroups: groups, capacityReservations: reservations } = fixture.clients().compute;
  const { id: group = '' } = await fixture.finish(
    (async () => {
      const made = await groups.createOrUpdate(arm.nodeResourceGroup, 'paid', { location: arm.location, zones: ['1'] });
      const operation = await beginOperation(async () => {
        const poller = reservations.createOrUpdate(arm.nodeResourceGroup, 'paid', 'two', {
          location: arm.location,
          sku: { name: SIZE, capacity: 2 },
          zones: ['1'],
        });
        await poller.submitted();
        return { poller };
      });
      await finishOperation(clock, operation, 'reservation');
      return made;
    })(),
  );
  await fixture.restart({ capacityReservationGroups: [group] });
  await clock.advance(1_000);
  return { fixture, group };
}

function claimOf(fixture: AzureFixture, name: string): NodeClaim {
  const claim = fixture.claimNamed(name);
  const requirements: NodeClaim['spec']['requirements'] = [
    { key: Labels.instanceType, operator: 'In', values: [SIZE] },
    { key: Labels.zone, operator: 'In', values: [`${fixture.arm.location}-1`] },
    { key: Labels.capacityType, operator: 'In', values: ['reserved', 'on-demand'] },
  ];
  return { ...claim, spec: { ...claim.spec, requirements } };
}

it('uses reservations before it buys, and counts launches that Azure does not show yet', async () => {
  const { fixture, group } = await started();
  const nodeClass = await fixture.makeNodeClass('default');
  const left = async (): Promise<readonly unknown[]> => {
    const types = await fixture.cloud.instanceTypes({ metadata: { name: 'pool' } } as never, nodeClass);
    const offerings = types.find(({ name }) => name === SIZE)?.offerings ?? [];
    return offerings
      .filter(({ capacityType }) => capacityType === 'reserved')
      .map(({ zone, available, reservationCapacity }) => [zone, available, reservationCapacity]);
  };
  const zone = `${fixture.arm.location}-1`;
  expect(await left()).toEqual([[zone, true, 2]]);
  const bought: (string | undefined)[] = [];
  for (const name of ['pool-1', 'pool-2', 'pool-3']) {
    const instance = await fixture.launch(claimOf(fixture, name));
    bought.push(instance.labels[Labels.capacityType]);
  }
  expect(bought).toEqual(['reserved', 'reserved', 'on-demand']);
  expect(await left()).toEqual([[zone, false, 0]]);
  const bodies = fixture.callsOf('virtualMachines.createOrUpdate').map(({ body }) => body as { properties: object });
  expect(bodies[0]?.properties).toMatchObject({ capacityReservation: { capacityReservationGroup: { id: group } } });
  expect(bodies[2]?.properties).not.toHaveProperty('capacityReservation');
  // A new process reads what is left from Azure, and knows its instances again.
  await fixture.restart();
  await fixture.clock.advance(1_000);
  expect(await left()).toEqual([[zone, false, 0]]);
  const listed = await fixture.finish(fixture.cloud.list());
  expect(listed.map(({ labels }) => labels[Labels.capacityType] ?? '').toSorted(compare)).toEqual([
    'on-demand',
    'reserved',
    'reserved',
  ]);
  await fixture.close();
});

it('buys instead when a reservation cannot deliver, and does not mark unreserved capacity as failed', async () => {
  const { fixture } = await started();
  await fixture.makeNodeClass('default');
  const error = new ArmError(409, 'AllocationFailed', 'The reservation has no room.');
  fixture.failNext('virtualMachines.createOrUpdate', { kind: 'refuse', error });
  const instance = await fixture.launch(claimOf(fixture, 'pool-1'));
  expect(instance.labels).toMatchObject({ [Labels.capacityType]: 'on-demand', [Labels.instanceType]: SIZE });
  await fixture.close();
});
