import { ClientSecretCredential } from '@azure/identity';
import { expect, it } from 'vitest';
import { describeThrown } from '../../errors/thrown.ts';
import { KubeError } from '../../kube/errors.ts';
import { startError } from './startError.ts';

const SERVER = 'https://cluster:443';

it.each([
  [new KubeError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' }), 'ClusterRefusesCredentials'],
  [new KubeError({ code: 0, reason: 'Unreachable', message: 'connect ECONNREFUSED' }), 'ClusterUnreachable'],
  [new KubeError({ code: 404, reason: 'NotFound', message: 'GET /version: HTTP 404: <html>' }), 'ClusterUnreachable'],
  [Object.assign(new Error('first\nsecond'), { name: 'AggregateAuthenticationError' }), 'AzureRefusesCredentials'],
  [Object.assign(new Error('expired'), { statusCode: 401 }), 'AzureRefusesCredentials'],
])('turns %s into %s', (error, code) => {
  expect(startError(error, SERVER)).toMatchObject({ code, cause: error });
  expect(describeThrown(startError(error, SERVER)).split('\n')).toHaveLength(1);
});

it('knows what the Azure SDK throws for a directory that cannot be asked', async () => {
  const credential = new ClientSecretCredential('tenant', 'client', 'wrong', {
    authorityHost: 'https://127.0.0.1:9',
    disableInstanceDiscovery: true,
    retryOptions: { maxRetries: 0 },
  });
  const thrown: unknown = await credential
    .getToken('https://management.azure.com/.default')
    .catch((error: unknown) => error);
  expect(startError(thrown, SERVER)).toMatchObject({ code: 'AzureRefusesCredentials' });
});

it('leaves other failures alone', () => {
  const error = new Error('other');
  expect(startError(error, SERVER)).toBe(error);
  const refused = new KubeError({ kind: 'Status', code: 403, reason: 'Forbidden' });
  expect(startError(refused, SERVER)).toBe(refused);
  const known = startError(new KubeError({ code: 401 }), SERVER);
  expect(startError(known, SERVER)).toBe(known);
});
