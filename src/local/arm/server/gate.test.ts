import { ComputeManagementClient } from '@azure/arm-compute';
import { NetworkManagementClient } from '@azure/arm-network';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../clock/virtualClock.ts';
import { ArmFixture, collect, POLL } from '../../../../test/fixtures/local/armFixture.ts';
import { AZURE_LIMITS } from './throttling.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describe('a request to ARM', () => {
  let fixture: ArmFixture;
  let machines: string;

  beforeAll(async () => {
    fixture = await ArmFixture.start();
    machines = `resourceGroups/${fixture.group}/providers/Microsoft.Compute/virtualMachines`;
  });
  afterAll(() => fixture.close());

  it('has its ids in the headers of the response', async () => {
    const { headers } = await fixture.ask(`${machines}?api-version=2024-07-01`, {
      headers: {
        'x-ms-correlation-request-id': 'mine',
        'x-ms-client-request-id': 'client',
        'x-ms-return-client-request-id': 'true',
      },
    });
    expect(headers).toMatchObject({
      'x-ms-correlation-request-id': 'mine',
      'x-ms-client-request-id': 'client',
      'x-ms-request-id': expect.stringMatching(UUID) as string,
      'x-ms-routing-request-id': expect.stringMatching(/^EASTUS:\d{8}T\d{6}Z:mine$/) as string,
      'content-type': 'application/json; charset=utf-8',
    });
  });

  it.each<readonly [string, string | undefined, string]>([
    ['is missing', undefined, 'AuthenticationFailed'],
    ['is not a bearer token', 'Basic abc', 'AuthenticationFailed'],
    ['is forged', 'Bearer a.b.c', 'InvalidAuthenticationToken'],
  ])('is refused when its token %s', async (_what, authorization, code) => {
    const answer = await fixture.ask('?api-version=2022-12-01', { headers: { authorization: authorization ?? '' } });
    expect(answer).toMatchObject({ status: 401, body: { error: { code } } });
    expect(answer.headers['www-authenticate']).toContain('Bearer authorization_uri=');
  });

  it('is refused when its token has expired', async () => {
    const clock = new VirtualClock(Date.now());
    const other = await ArmFixture.start({ clock });
    const { token } = await other.credentialOf(other.arm.credentials).getToken('https://management.azure.com/.default');
    const headers = { authorization: `Bearer ${token}` };
    expect((await other.ask('?api-version=2022-12-01', { headers })).status).toBe(200);
    await clock.advance(3_601_000);
    expect(await other.ask('?api-version=2022-12-01', { headers })).toMatchObject({
      status: 401,
      body: { error: { code: 'ExpiredAuthenticationToken' } },
    });
    await other.close();
  });

  it.each<readonly [string, number, string, string]>([
    ['providers/Microsoft.Compute/virtualMachines', 400, 'MissingApiVersionParameter', 'is required for all requests'],
    [
      'resourceGroups?api-version=1999-01-01',
      400,
      'InvalidApiVersionParameter',
      "The supported versions are '2025-04-01,",
    ],
    [
      'providers/Microsoft.Compute/virtualMachines?api-version=latest',
      400,
      'InvalidApiVersionParameter',
      "'latest' is invalid",
    ],
    [
      'providers/Microsoft.Compute/virtualMachines?api-version=1999-01-01',
      404,
      'InvalidResourceType',
      "The supported api-versions are '2026-03-01,",
    ],
    [
      'providers/Microsoft.Nothing/things?api-version=2024-07-01',
      404,
      'InvalidResourceNamespace',
      "'Microsoft.Nothing' is invalid",
    ],
    [
      'providers/Microsoft.Compute/unicorns?api-version=2024-07-01',
      404,
      'InvalidResourceType',
      "The resource type 'unicorns' could not be found",
    ],
  ])('is refused: GET %s', async (path, status, code, message) => {
    expect(await fixture.ask(path)).toMatchObject({
      status,
      body: { error: { code, message: expect.stringContaining(message) as string } },
    });
  });

  it('is refused for an api-version that its type does not have in the location', async () => {
    const body = { location: 'eastus', properties: {} };
    expect(await fixture.ask(`${machines}/x?api-version=1999-01-01`, { method: 'PUT', body })).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'NoRegisteredProviderFound',
          message: expect.stringMatching(
            /^No registered resource provider found for location 'eastus' and API version '1999-01-01' for type 'virtualMachines'\. The supported api-versions are '.*'\. The supported locations are '.*eastus.*'\.$/,
          ) as string,
        },
      },
    });
  });

  it('is refused for a missing resource, group, subscription or method', async () => {
    const version = 'api-version=2024-07-01';
    expect(await fixture.ask(`${machines}/x?${version}`)).toMatchObject({
      status: 404,
      body: {
        error: {
          code: 'ResourceNotFound',
          message: expect.stringContaining(
            `The Resource 'Microsoft.Compute/virtualMachines/x' under resource group '${fixture.group}' was not found.`,
          ) as string,
        },
      },
    });
    const elsewhere = machines.replace(fixture.group, 'nowhere');
    expect(await fixture.ask(`${elsewhere}/x?${version}`)).toMatchObject({
      status: 404,
      body: { error: { code: 'ResourceGroupNotFound', message: "Resource group 'nowhere' could not be found." } },
    });
    const other = '/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/x?api-version=2025-04-01';
    expect(await fixture.ask(other)).toMatchObject({ status: 404, body: { error: { code: 'SubscriptionNotFound' } } });
    expect(await fixture.ask(`${machines}/x/start?${version}`)).toMatchObject({ status: 405 });
    expect(await fixture.ask(`${machines}/x?${version}`, { method: 'PUT', body: '{' })).toMatchObject({
      status: 400,
      body: { error: { code: 'InvalidRequestContent' } },
    });
    const upper = `/SUBSCRIPTIONS/${fixture.arm.subscriptionId.toUpperCase()}/RESOURCEGROUPS/${fixture.group.toUpperCase()}/PROVIDERS/MICROSOFT.COMPUTE/VIRTUALMACHINES?${version}`;
    expect(await fixture.ask(upper)).toMatchObject({ status: 200, body: { value: [] } });
  });

  it('is allowed what the roles of the principal allow', async () => {
    const { arm, group } = fixture;
    const scope = `/subscriptions/${arm.subscriptionId}/resourceGroups/${group}`;
    const clients = (...roles: Parameters<typeof arm.addPrincipal>[0]) => {
      const credential = fixture.credentialOf(arm.addPrincipal(roles));
      return {
        compute: new ComputeManagementClient(credential, arm.subscriptionId, fixture.clientOptions),
        network: new NetworkManagementClient(credential, arm.subscriptionId, fixture.clientOptions),
      };
    };
    const nic = await fixture.createInterface('guarded');
    const body = fixture.machineOn(nic.id ?? '');
    const reader = clients({ role: 'Reader', scope });
    expect(await collect(reader.compute.virtualMachines.list(group))).toEqual([]);
    await expect(reader.compute.virtualMachines.createOrUpdate(group, 'guarded', body, POLL)).rejects.toMatchObject({
      statusCode: 403,
      code: 'AuthorizationFailed',
      message: expect.stringMatching(
        /does not have authorization to perform action 'Microsoft\.Compute\/virtualMachines\/write' over scope '.*\/virtualMachines\/guarded'/,
      ) as string,
    });
    await expect(collect(reader.compute.virtualMachines.list('local'))).rejects.toMatchObject({ statusCode: 403 });
    await expect(reader.compute.virtualMachines.start(group, 'guarded', POLL)).rejects.toMatchObject({
      message: expect.stringContaining("'Microsoft.Compute/virtualMachines/start/action'") as string,
    });
    const machinist = clients({ role: 'Virtual Machine Contributor', scope });
    await machinist.compute.virtualMachines.createOrUpdate(group, 'guarded', body, POLL);
    await machinist.compute.virtualMachines.delete(group, 'guarded', POLL);
    const networker = clients({
      role: 'Network Contributor',
      scope: `${scope}/providers/Microsoft.Network/networkInterfaces`,
    });
    const lonely = { location: arm.location, ipConfigurations: [{ name: 'a', subnet: { id: arm.network.subnetId } }] };
    await expect(
      networker.network.networkInterfaces.beginCreateOrUpdateAndWait(group, 'lonely', lonely, POLL),
    ).rejects.toMatchObject({ statusCode: 403, code: 'LinkedAuthorizationFailed' });
  });

  it('counts against rate limits, and is throttled above them', async () => {
    const clock = new VirtualClock(Date.now());
    const limits = {
      ...AZURE_LIMITS,
      subscription: { ...AZURE_LIMITS.subscription, writes: { capacity: 2, perSecond: 0.1 } },
      compute: {
        ...AZURE_LIMITS.compute,
        HighCostGet: { subscription: { capacity: 3, perSecond: 0.05 }, resource: undefined },
        LowCostGet: { subscription: { capacity: 100, perSecond: 1 }, resource: { capacity: 2, perSecond: 0.2 } },
      },
    };
    const other = await ArmFixture.start({ clock, throttling: limits });
    const list = `resourceGroups/${other.group}/providers/Microsoft.Compute/virtualMachines?api-version=2024-07-01`;
    const first = await other.ask(list);
    expect(first.headers).toMatchObject({
      'x-ms-ratelimit-remaining-subscription-reads': '249',
      'x-ms-ratelimit-remaining-subscription-global-reads': '3749',
      'x-ms-ratelimit-remaining-resource': 'Microsoft.Compute/HighCostGetSubscriptionMaximum;2',
    });
    await other.ask(list);
    await other.ask(list);
    const refused = await other.ask(list);
    expect(refused).toMatchObject({
      status: 429,
      headers: {
        'retry-after': '20',
        'x-ms-ratelimit-remaining-resource': 'Microsoft.Compute/HighCostGetSubscriptionMaximum;0',
      },
      body: {
        error: {
          code: 'OperationNotAllowed',
          details: [{ code: 'TooManyRequests', target: 'HighCostGetSubscriptionMaximum' }],
          innererror: { internalErrorCode: 'TooManyRequestsReceived' },
        },
      },
    });
    await clock.advance(20_000);
    expect((await other.ask(list)).status).toBe(200);
    const one = list.replace('virtualMachines?', 'virtualMachines/x?');
    const two = list.replace('virtualMachines?', 'virtualMachines/y?');
    expect(
      [await other.ask(one), await other.ask(one), await other.ask(one), await other.ask(two)].map(
        ({ status }) => status,
      ),
    ).toEqual([404, 404, 429, 404]);
    const put = () =>
      other.ask('resourceGroups/g?api-version=2025-04-01', { method: 'PUT', body: { location: 'eastus' } });
    expect([(await put()).status, (await put()).status]).toEqual([201, 200]);
    expect(await put()).toMatchObject({
      status: 429,
      headers: { 'retry-after': '10', 'x-ms-ratelimit-remaining-subscription-writes': '0' },
      body: {
        error: {
          code: 'SubscriptionRequestsThrottled',
          message: expect.stringContaining("'write' requests") as string,
        },
      },
    });
    await other.close();
  });
});
