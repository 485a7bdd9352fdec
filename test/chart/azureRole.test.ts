import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClientSecretCredential } from '@azure/identity';
import { createDefaultHttpClient, type HttpClient } from '@azure/core-rest-pipeline';
import { expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { InstanceNotFoundError } from '../../src/cloud/errors.ts';
import { ArmError } from '../../src/local/arm/armError.ts';
import { actionOf, parseResourcePath } from '../../src/local/arm/server/resourcePath.ts';
import { AzureFixture, launchedClaim } from '../fixtures/azure/azureFixture.ts';

const ROLE = JSON.parse(readFileSync(join(import.meta.dirname, '../../charts/nodewright/azure-role.json'), 'utf8')) as {
  readonly Actions: readonly string[];
};

/** Actions that Azure checks when a VM or interface refers to another resource; no request is sent to it. */
const LINKED = /\/(?:join|assign|deploy)\/action$|^Microsoft\.Compute\/disks\/write$/;
/** For options that this test does not use. */
const OPTIONAL = /diskEncryptionSets|capacityReservationGroups/;

it('allows what a node needs from start to end, and nothing that is not used', async () => {
  const fixture = await AzureFixture.start();
  const { arm } = fixture;
  const { tenantId, clientId, clientSecret } = arm.addPrincipal([
    { role: { actions: ROLE.Actions }, scope: `/subscriptions/${arm.subscriptionId}` },
    { role: { actions: ['Microsoft.ResourceGraph/resources/action'] }, scope: '/' },
  ]);
  const used = new Set<string>();
  const network = createDefaultHttpClient();
  const httpClient: HttpClient = {
    sendRequest: (request) => {
      const path = parseResourcePath(new URL(request.url).pathname);
      const isFollowed = /\/(?:operations|operationresults)\//i.test(request.url);
      if (path.namespace !== undefined && !isFollowed) used.add(actionOf(path, request.method));
      return network.sendRequest(request);
    },
  };
  const credential = new ClientSecretCredential(tenantId, clientId, clientSecret, {
    authorityHost: arm.endpoint,
    disableInstanceDiscovery: true,
    tlsOptions: { ca: arm.caPem },
  });
  await fixture.restart({ credential, httpClient, billingExtension: true });
  const nodeClass = await fixture.makeNodeClass('default');
  const claim = fixture.claimNamed('pool-1');
  const instance = await fixture.launch(claim);
  await fixture.clock.advance(5 * 60_000);
  await fixture.finish(fixture.cloud.list());
  await fixture.finish(fixture.cloud.get(instance.providerID));
  const tagged = { ...nodeClass, spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128, tags: { a: 'b' } } } as const;
  await fixture.finish(fixture.cloud.inPlaceUpdates.apply(launchedClaim(claim, instance), tagged));
  for (;;) {
    const gone = await fixture.finish(
      fixture.cloud.delete(launchedClaim(claim, instance)).then(
        () => false,
        (error: unknown) => error instanceof InstanceNotFoundError || Promise.reject(error as Error),
      ),
    );
    if (gone) break;
    await fixture.clock.advance(60_000);
  }
  // A refused launch leaves its interface, which is removed with the claim.
  const refused = fixture.claimNamed('pool-2');
  fixture.failNext('virtualMachines.createOrUpdate', { kind: 'refuse', error: new ArmError(400, 'Odd', 'No.') });
  await expect(fixture.launch(refused)).rejects.toThrow('No.');
  await fixture.finish(fixture.cloud.delete(refused));
  const missing = [...used].filter((action) => !ROLE.Actions.includes(action));
  const idle = ROLE.Actions.filter((action) => !used.has(action) && !LINKED.test(action) && !OPTIONAL.test(action));
  expect({ missing, idle }).toEqual({ missing: [], idle: [] });
  expect(await fixture.kube.get(Kinds.AKSNodeClass, { name: 'default' })).toBeDefined();
  await fixture.close();
});
