import { afterEach, describe, expect, it } from 'vitest';
import { AzureFixture, launchedClaim } from '../../test/fixtures/azure/azureFixture.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Annotations, ManagedTags } from '../api/labels.ts';
import { inPlaceHash } from './inPlaceHash.ts';

describe('the in-place hash', () => {
  it.each([
    [{ tags: {} }, '1415952421'],
    [{ tags: { b: '2', a: '1' } }, '3094647156'],
    [{ identities: ['/x/b', '/x/a'], tags: { a: '1' } }, '344751875'],
    [{ tags: { a: '<&>' } }, '3750329634'],
  ])('of %j is %s', (state, expected) => {
    expect(inPlaceHash(state)).toBe(expected);
  });

  it('does not depend on the order of tags and identities', () => {
    expect(inPlaceHash({ identities: ['a', 'b'], tags: { x: '1', y: '2' } })).toBe(
      inPlaceHash({ identities: ['b', 'a'], tags: { y: '2', x: '1' } }),
    );
  });
});

describe('an update in place', () => {
  let fixture: AzureFixture;
  afterEach(() => fixture.close());

  async function launched(name: string): Promise<NodeClaim> {
    const claim = fixture.claimNamed(name);
    const instance = await fixture.launch(claim);
    await fixture.clock.advance(2 * 60_000);
    return launchedClaim(claim, instance);
  }

  it('gives a VM new tags and more identities: interface and extension first', async () => {
    fixture = await AzureFixture.start({ additionalTags: { team: 'a' } });
    await fixture.makeNodeClass('default', { tags: { 'cost/center': '1' } });
    const claim = await launched('one');
    expect(fixture.arm.virtualMachines()[0]?.tags).toMatchObject({ team: 'a', cost_center: '1' });
    const identity = `/subscriptions/${fixture.arm.subscriptionId}/resourceGroups/${fixture.arm.nodeResourceGroup}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/extra`;
    await fixture.restart({ additionalTags: { team: 'b' }, nodeIdentities: [identity] });
    const changed = await fixture.makeNodeClass('changed', { tags: { owner: 'me' } });
    expect(fixture.cloud.inPlaceUpdates.isCurrent(claim, changed)).toBe(false);
    const seen = fixture.calls.length;
    await fixture.finish(fixture.cloud.inPlaceUpdates.apply(claim, changed));
    const writes = fixture.calls.slice(seen).filter(({ name }) => /update/i.test(name));
    expect(writes.map(({ name }) => name)).toEqual([
      'networkInterfaces.updateTags',
      'virtualMachineExtensions.update',
      'virtualMachines.update',
    ]);
    const tags = { team: 'b', owner: 'me', [ManagedTags.nodePool]: 'pool' };
    for (const { body } of writes) expect(body).toMatchObject({ tags });
    expect(writes[2]?.body).toMatchObject({
      identity: { type: 'UserAssigned', userAssignedIdentities: { [identity]: {} } },
    });
    expect(fixture.arm.virtualMachines()[0]?.tags).not.toHaveProperty('cost_center');
    const hash = fixture.cloud.inPlaceUpdates.hashFor(claim, changed);
    expect(hash).not.toBe(claim.metadata.annotations?.[Annotations.inPlaceUpdateHash]);
  });

  it('gives an AKS machine new tags through AKS, and corrects the one that names its claim', async () => {
    fixture = await AzureFixture.start({
      provisionMode: 'aksmachineapi',
      aksMachinesPoolName: 'aksmanagedap',
      useSig: true,
      sigSubscriptionId: '11111111-1111-1111-1111-111111111111',
    });
    await fixture.makeNodeClass('default', { imageFamily: 'Ubuntu2204' });
    const claim = await launched('one');
    const changed = await fixture.makeNodeClass('changed', { tags: { owner: 'me' } });
    expect(fixture.cloud.inPlaceUpdates.isCurrent(claim, changed)).toBe(false);
    await fixture.finish(fixture.cloud.inPlaceUpdates.apply(claim, changed));
    expect(fixture.arm.virtualMachines()[0]?.tags).toMatchObject({
      owner: 'me',
      [ManagedTags.machineNodeClaim]: 'one',
    });
    expect(fixture.callsOf('virtualMachines.update')).toEqual([]);
  });
});
