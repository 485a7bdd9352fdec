import { afterAll, beforeAll, expect, it } from 'vitest';
import { AzureFixture } from '../../../test/fixtures/azure/azureFixture.ts';
import { Labels } from '../../api/labels.ts';
import type { AzureCloudProviderOptions } from '../../azure/createAzureCloudProvider.ts';
import { failedPull } from './imagePulls.ts';

const ACR_PULL = '7f951dda-4ed3-4680-a7ca-43fe172d538d';
const D2S = [{ key: Labels.instanceType, operator: 'In' as const, values: ['Standard_D2s_v3'] }];

let fixture: AzureFixture;
let madeRegistry: unknown;
let names: { readonly attached: Identity; readonly other: Identity };

interface Identity {
  readonly id: string;
  readonly clientId: string;
}

beforeAll(async () => {
  fixture = await AzureFixture.start();
  const { arm } = fixture;
  const { rest } = fixture.clients();
  const group = `/subscriptions/${arm.subscriptionId}/resourceGroups/${arm.nodeResourceGroup}`;
  const put = <T>(path: string, apiVersion: string, body: object): Promise<T> =>
    fixture.finish(rest.send<T>({ method: 'PUT', path, apiVersion, body: { location: arm.location, ...body } }));
  const identity = async (name: string) => {
    const id = `${group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/${name}`;
    const made = await put<{ properties: { clientId: string; principalId: string } }>(id, '2023-01-31', {});
    return { id, ...made.properties };
  };
  const registry = `${group}/providers/Microsoft.ContainerRegistry/registries/Private`;
  madeRegistry = await put(registry, '2023-07-01', { sku: { name: 'Basic' } });
  const attached = await identity('attached');
  names = { attached, other: await identity('other') };
  const roleDefinitionId = `/subscriptions/${arm.subscriptionId}/providers/Microsoft.Authorization/roleDefinitions/${ACR_PULL}`;
  const assignment = `${registry}/providers/Microsoft.Authorization/roleAssignments/6f2a1c3e-0000-4000-8000-000000000001`;
  await put(assignment, '2022-04-01', { properties: { roleDefinitionId, principalId: attached.principalId } });
});
afterAll(() => fixture.close());

it('a registry has a login server', () => {
  expect(madeRegistry).toMatchObject({ sku: { name: 'Basic' }, properties: { loginServer: 'private.azurecr.io' } });
});

const withIdentity = ({ id, clientId }: Identity): Partial<AzureCloudProviderOptions> => ({
  nodeIdentities: [id],
  kubeletIdentityClientId: clientId,
});

it.each<[string, string, () => Partial<AzureCloudProviderOptions>, string, boolean]>([
  ['an identity with the role', '1.36.3', () => withIdentity(names.attached), 'private.azurecr.io/a:1', true],
  [
    'a kubelet with a built-in credential provider',
    '1.29.9',
    () => withIdentity(names.attached),
    'private.azurecr.io/a:1',
    true,
  ],
  ['an identity without the role', '1.36.3', () => withIdentity(names.other), 'private.azurecr.io/a:1', false],
  [
    'an identity that the VM does not have',
    '1.36.3',
    () => ({ ...withIdentity(names.attached), nodeIdentities: [names.other.id] }),
    'private.azurecr.io/a:1',
    false,
  ],
  [
    'no identity in the configuration of the node',
    '1.36.3',
    () => ({ nodeIdentities: [names.attached.id] }),
    'private.azurecr.io/a:1',
    false,
  ],
  ['a registry that is not simulated', '1.36.3', () => ({}), 'elsewhere.azurecr.io/a:1', true],
  ['a public registry', '1.36.3', () => ({}), 'mcr.microsoft.com/a:1', true],
])('images are pulled with the identity of the node: %s', async (name, version, options, image, isPulled) => {
  fixture.version = version;
  await fixture.restart(options());
  const id = name.toLowerCase().replaceAll(' ', '-');
  await fixture.makeNodeClass(id, { imageFamily: 'Ubuntu2204' });
  await fixture.launch(fixture.claimNamed(id, D2S, id));
  const spec = { nodeName: `aks-${id}`, containers: [{ name: 'c', image }] };
  const failed = failedPull(fixture.arm, { metadata: { name: 'pod' }, spec });
  expect(failed?.image).toBe(isPulled ? undefined : image);
});
