import { generateKeyPairSync, sign } from 'node:crypto';
import { ClientAssertionCredential, ManagedIdentityCredential } from '@azure/identity';
import { ComputeManagementClient } from '@azure/arm-compute';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ArmFixture, collect } from '../../../../test/fixtures/local/armFixture.ts';

const SCOPE = 'https://management.azure.com/.default';
const METADATA = { metadata: 'true' };

describe('the directory through @azure/identity', () => {
  let fixture: ArmFixture;

  beforeAll(async () => {
    fixture = await ArmFixture.start();
  });
  afterAll(() => fixture.close());

  it('issues tokens for a secret, and refuses with the errors of Entra', async () => {
    const { arm } = fixture;
    const token = await fixture.credentialOf(arm.credentials).getToken(SCOPE);
    expect(token.expiresOnTimestamp).toBeGreaterThan(Date.now());
    const claims = JSON.parse(Buffer.from(token.token.split('.')[1] ?? '', 'base64url').toString()) as object;
    expect(claims).toMatchObject({ aud: 'https://management.azure.com', appid: arm.credentials.clientId });
    const wrong = fixture.credentialOf({ ...arm.credentials, clientSecret: 'wrong' });
    await expect(wrong.getToken(SCOPE)).rejects.toThrow(/AADSTS7000215/);
    const unknown = fixture.credentialOf({ ...arm.credentials, clientId: 'missing' });
    await expect(unknown.getToken(SCOPE)).rejects.toThrow(/AADSTS700016/);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const path = `/${arm.credentials.tenantId}/oauth2/v2.0/token`;
    expect(await fixture.ask(path, { method: 'POST', headers: form, body: 'grant_type=password' })).toMatchObject({
      status: 400,
      body: { error: 'unsupported_grant_type', error_codes: [70003] },
    });
    expect(
      await fixture.ask('/elsewhere/oauth2/v2.0/token', { method: 'POST', headers: form, body: 'a=b' }),
    ).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', error_codes: [90002] },
    });
  });

  it('issues tokens for the token of a federated cluster', async () => {
    const { arm } = fixture;
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const issuer = 'https://oidc.local/';
    const subject = 'system:serviceaccount:kube-system:karpenter-sa';
    const publicKeyPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    arm.federate({ clientId: arm.credentials.clientId, issuer, subject, publicKeyPem });
    const assertion = (more: object) => {
      const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
      const claims = { iss: issuer, sub: subject, aud: ['api://AzureADTokenExchange'], exp: Date.now() / 1000 + 600 };
      const unsigned = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ ...claims, ...more })}`;
      return `${unsigned}.${sign('sha256', Buffer.from(unsigned), privateKey).toString('base64url')}`;
    };
    const credential = (more: object) =>
      new ClientAssertionCredential(
        arm.credentials.tenantId,
        arm.credentials.clientId,
        () => Promise.resolve(assertion(more)),
        { authorityHost: arm.endpoint, disableInstanceDiscovery: true, tlsOptions: { ca: arm.caPem } },
      );
    const compute = new ComputeManagementClient(credential({}), arm.subscriptionId, fixture.clientOptions);
    expect(await collect(compute.virtualMachines.listAll())).toEqual([]);
    await expect(credential({ sub: 'other' }).getToken(SCOPE)).rejects.toThrow(/AADSTS700213/);
    await expect(credential({ exp: 1 }).getToken(SCOPE)).rejects.toThrow(/AADSTS700024/);
  });

  it('issues tokens to a managed identity through the metadata service of its VM', async () => {
    const { arm } = fixture;
    await fixture.createMachine('vm');
    const query = `api-version=2018-02-01&resource=${encodeURIComponent('https://management.azure.com/')}`;
    const path = `${arm.metadataEndpoint('vm')}/metadata/identity/oauth2/token?${query}`.slice(arm.endpoint.length);
    expect(await fixture.ask(path)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    const { body } = await fixture.ask(path, { headers: METADATA });
    expect(body).toMatchObject({ token_type: 'Bearer', client_id: arm.credentials.clientId });
    expect(await fixture.ask(`${path}&client_id=missing`, { headers: METADATA })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', error_description: 'Identity not found' },
    });
    vi.stubEnv('AZURE_POD_IDENTITY_AUTHORITY_HOST', arm.metadataEndpoint('vm'));
    try {
      const credential = new ManagedIdentityCredential({ tlsOptions: { ca: arm.caPem } });
      const { token } = await credential.getToken(SCOPE);
      expect(token.split('.')).toHaveLength(3);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('issues nothing to a client without a secret', async () => {
    const { arm } = fixture;
    const resource = `resource=${encodeURIComponent('https://management.azure.com/')}&api-version=2018-02-01`;
    const open = [
      `/sig/token?scope=${SCOPE}`,
      `/metadata/identity/oauth2/token?${resource}`,
      `/imds/vm/metadata/identity/oauth2/token?${resource}`,
      `/imds/vm/guess/metadata/identity/oauth2/token?${resource}`,
      '/imds/vm/guess/metadata/scheduledevents?api-version=2020-07-01',
      `${arm.metadataEndpoint('other').slice(arm.endpoint.length).replace('other', 'vm')}/metadata/scheduledevents?api-version=2020-07-01`,
    ];
    const statuses = await Promise.all(
      open.map(async (path) => (await fixture.ask(path, { headers: { ...METADATA, authorization: '' } })).status),
    );
    expect(statuses).toEqual([401, 401, 401, 404, 404, 404]);
  });

  it('issues a token for images that can only read the subscription of images', async () => {
    const { Token } = (await fixture.ask(`/sig/token?scope=${SCOPE}`)).body as { Token: string };
    const headers = { authorization: `Bearer ${Token}` };
    const cluster = `resourceGroups/local/providers/Microsoft.ContainerService/managedClusters/local`;
    expect(
      await fixture.ask(`${cluster}/listClusterAdminCredential?api-version=2025-05-01`, { method: 'POST', headers }),
    ).toMatchObject({ status: 403, body: { error: { code: 'AuthorizationFailed' } } });
    expect((await fixture.ask('resourceGroups?api-version=2022-12-01', { headers })).status).toBe(403);
  });

  it('serves a VM its scheduled events', async () => {
    const { arm } = fixture;
    await fixture.createMachine('spot', { priority: 'Spot', evictionPolicy: 'Delete', userData: btoa('x') });
    const at = (path: string): string => `${arm.metadataEndpoint('spot')}/metadata/${path}`.slice(arm.endpoint.length);
    const events = async () =>
      (await fixture.ask(at('scheduledevents?api-version=2020-07-01'), { headers: METADATA })).body as {
        DocumentIncarnation: number;
        Events: { EventId: string; EventType: string; NotBefore: string }[];
      };
    expect((await events()).Events).toEqual([]);
    arm.preempt('spot', 600_000);
    const { Events, DocumentIncarnation } = await events();
    expect(DocumentIncarnation).toBe(2);
    expect(Events).toMatchObject([
      {
        EventType: 'Preempt',
        EventStatus: 'Scheduled',
        Resources: ['spot'],
        ResourceType: 'VirtualMachine',
        EventSource: 'Platform',
      },
    ]);
    expect(Date.parse(Events[0]?.NotBefore ?? '')).toBeGreaterThan(Date.now());
    const approve = (EventId: string) =>
      fixture.ask(at('scheduledevents?api-version=2020-07-01'), {
        method: 'POST',
        headers: METADATA,
        body: { StartRequests: [{ EventId }] },
      });
    expect((await approve('nothing')).status).toBe(400);
    expect((await approve(Events[0]?.EventId ?? '')).status).toBe(200);
    expect(arm.virtualMachines().map(({ name }) => name)).toEqual(['vm']);
    expect((await fixture.ask(at('scheduledevents?api-version=2020-07-01'), { headers: METADATA })).status).toBe(404);
  });

  it('lists retail prices in pages, by filter', async () => {
    const read = async (filter: string, more = '') => {
      const items: { skuName: string; productName: string; retailPrice: number; armRegionName: string }[] = [];
      let next: string | null = `/api/retail/prices?$filter=${encodeURIComponent(filter)}${more}`;
      let pages = 0;
      for (; next !== null && pages < 100; pages += 1) {
        const page = (await fixture.ask(next)).body as { Items: typeof items; NextPageLink: string | null };
        items.push(...page.Items);
        next = page.NextPageLink === null ? null : page.NextPageLink.slice(fixture.arm.endpoint.length);
      }
      return { items, pages };
    };
    const all = await read(
      "priceType eq 'Consumption' and armRegionName eq 'westeurope' and serviceFamily eq 'Compute'",
    );
    expect(all.pages).toBeGreaterThan(1);
    const linux = new Map(
      all.items
        .filter(({ productName }) => !productName.endsWith(' Windows'))
        .map((item) => [item.skuName, item.retailPrice]),
    );
    expect(linux.get('D2s v5')).toBe(0.115);
    expect(linux.get('D2s v5 Spot')).toBe(0.02875);
    expect(linux.has('D2s v5 Low Priority')).toBe(true);
    expect(linux.has('B2s v2 Spot')).toBe(false);
    const some = await read(
      "armSkuName eq 'Standard_D2s_v5' and (armRegionName eq 'eastus' or armRegionName eq 'westus2') and contains(meterName, 'Spot')",
      '&$top=1',
    );
    expect(some.items.map(({ armRegionName }) => armRegionName)).toEqual(['eastus', 'eastus', 'westus2', 'westus2']);
    expect(some.pages).toBe(4);
    expect(await fixture.ask("/api/retail/prices?$filter=name like 'x'")).toMatchObject({ status: 400 });
  });
});
