import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ArmFixture, type Answer } from '../../../../test/fixtures/local/armFixture.ts';

const READER = 'acdd72a7-3385-48ef-bd42-f606fba81ae7';
const ROLE = '11111111-2222-4333-8444-555555555555';

interface Identity {
  readonly properties: { readonly clientId: string; readonly principalId: string };
}

describe('role assignments', () => {
  let fixture: ArmFixture;
  let identity: Identity['properties'];
  let token: string;

  const operator = (): string =>
    `resourceGroups/${fixture.group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/operator`;
  const definition = (role: string): string =>
    `/subscriptions/${fixture.arm.subscriptionId}/providers/Microsoft.Authorization/roleDefinitions/${role}`;
  const assignment = (name: string): string =>
    `resourceGroups/${fixture.group}/providers/Microsoft.Authorization/roleAssignments/${name}?api-version=2022-04-01`;
  const assign = (name: string, role: string, principalId = identity.principalId): Promise<Answer> =>
    fixture.ask(assignment(name), {
      method: 'PUT',
      body: { properties: { roleDefinitionId: definition(role), principalId } },
    });
  /** Sends a request with the token of the identity. */
  const ask = (path: string, method: 'GET' | 'PUT' = 'GET'): Promise<Answer> =>
    fixture.ask(path, { method, headers: { authorization: `Bearer ${token}` }, ...(method === 'PUT' && { body: {} }) });
  const machines = (group: string): string =>
    `resourceGroups/${group}/providers/Microsoft.Compute/virtualMachines?api-version=2024-07-01`;

  beforeAll(async () => {
    fixture = await ArmFixture.start();
    const { arm } = fixture;
    const { body } = await fixture.ask(`${operator()}?api-version=2023-01-31`, {
      method: 'PUT',
      body: { location: 'eastus' },
    });
    identity = (body as Identity).properties;
    await fixture.createMachine('vm');
    const query = `api-version=2018-02-01&resource=${encodeURIComponent('https://management.azure.com/')}`;
    const path = `${arm.metadataEndpoint('vm')}/metadata/identity/oauth2/token?${query}&client_id=${identity.clientId}`;
    const answer = await fixture.ask(path.slice(arm.endpoint.length), { headers: { metadata: 'true' } });
    token = (answer.body as { readonly access_token: string }).access_token;
  });
  afterAll(() => fixture.close());

  it('require an existing role and principal', async () => {
    expect(await assign('a', ROLE)).toMatchObject({
      status: 400,
      body: { error: { code: 'RoleDefinitionDoesNotExist' } },
    });
    expect(await assign('a', READER, 'elsewhere')).toMatchObject({
      status: 400,
      body: { error: { code: 'PrincipalNotFound' } },
    });
  });

  it('give an identity rights at their scope until they are deleted', async () => {
    expect((await ask(machines(fixture.group))).status).toBe(403);
    expect(await assign('a', READER)).toMatchObject({ status: 201, body: { name: 'a' } });
    expect((await assign('a', READER)).status).toBe(200);
    expect(await assign('b', READER)).toMatchObject({ status: 409, body: { error: { code: 'RoleAssignmentExists' } } });
    expect((await ask(machines(fixture.group))).status).toBe(200);
    expect((await ask(machines('local'))).status).toBe(403);
    expect((await ask(assignment('c'), 'PUT')).status).toBe(403);
    const list = await fixture.ask(
      `resourceGroups/${fixture.group}/providers/Microsoft.Authorization/roleAssignments?api-version=2022-04-01&$filter=principalId eq '${identity.principalId}'`,
    );
    expect(list.body).toMatchObject({ value: [{ name: 'a' }] });
    expect((await fixture.ask(assignment('a'), { method: 'DELETE' })).status).toBe(200);
    expect((await fixture.ask(assignment('a'), { method: 'DELETE' })).status).toBe(204);
    expect((await ask(machines(fixture.group))).status).toBe(403);
  });

  it('accept custom roles, which are listed by name', async () => {
    const role = {
      properties: {
        roleName: 'looker',
        permissions: [{ actions: ['Microsoft.Compute/virtualMachines/read'], notActions: [] }],
        assignableScopes: [`/subscriptions/${fixture.arm.subscriptionId}`],
      },
    };
    const put = (id: string): Promise<Answer> =>
      fixture.ask(`${definition(id)}?api-version=2022-04-01`, { method: 'PUT', body: role });
    expect((await put(ROLE)).status).toBe(201);
    expect(await put('other')).toMatchObject({
      status: 409,
      body: { error: { code: 'RoleDefinitionWithSameNameExists' } },
    });
    const list = `${definition('').slice(0, -1)}?api-version=2022-04-01&$filter=roleName eq 'looker'`;
    expect((await fixture.ask(list)).body).toMatchObject({ value: [{ name: ROLE }] });
    expect((await assign('d', ROLE)).status).toBe(201);
    expect((await ask(machines(fixture.group))).status).toBe(200);
    const disks = machines(fixture.group).replace('virtualMachines', 'disks').replace('2024-07-01', '2024-03-02');
    expect((await ask(disks)).status).toBe(403);
  });

  it('end with the identity, whose federated credentials require issuer and subject', async () => {
    const path = `${operator()}/federatedIdentityCredentials/cluster?api-version=2023-01-31`;
    const properties = { issuer: 'https://oidc.local/', subject: 'system:serviceaccount:kube-system:nodewright' };
    expect((await fixture.ask(path, { method: 'PUT', body: { properties: {} } })).status).toBe(400);
    expect((await fixture.ask(path, { method: 'PUT', body: { properties } })).status).toBe(201);
    expect((await fixture.ask(path)).body).toMatchObject({ properties });
    expect((await fixture.ask(`${operator()}?api-version=2023-01-31`, { method: 'DELETE' })).status).toBe(200);
    expect((await ask(machines(fixture.group))).status).toBe(401);
  });
});
