import { expect, it } from 'vitest';
import { AzureFixture } from '../../../test/fixtures/azure/azureFixture.ts';
import { Kinds } from '../../api/kinds.ts';
import { BootstrapTokens } from './bootstrapTokens.ts';

const HOUR = 3_600_000;

it('finds the token with the longest validity, and another one in time', async () => {
  const fixture = await AzureFixture.start();
  const { kube, clock } = fixture;
  await kube.create(Kinds.Namespace, { metadata: { name: 'kube-system' } });
  const addToken = (id: string, expires: number | undefined, usage = 'true') =>
    kube.create(Kinds.Secret, {
      metadata: { namespace: 'kube-system', name: `bootstrap-token-${id}` },
      type: 'bootstrap.kubernetes.io/token',
      data: Object.fromEntries(
        Object.entries({
          'token-id': id,
          'token-secret': '0123456789abcdef',
          'usage-bootstrap-authentication': usage,
          ...(expires === undefined ? {} : { expiration: new Date(clock.now() + expires).toISOString() }),
        }).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
      ),
    });
  const tokens = new BootstrapTokens({ kube, clock, configured: 'auto' });
  await expect(tokens.current()).rejects.toThrow(/kube-system has no Secret of type bootstrap.kubernetes.io\/token/);
  await addToken('soonov', 0.1 * HOUR);
  await addToken('unused', undefined, 'false');
  await expect(tokens.current()).rejects.toThrow(/valid for another 20 minutes/);
  await addToken('oneday', 24 * HOUR);
  await addToken('twoday', 48 * HOUR);
  expect(await tokens.current()).toBe('twoday.0123456789abcdef');
  await kube.delete(Kinds.Secret, { namespace: 'kube-system', name: 'bootstrap-token-twoday' });
  await clock.advance(6 * 60_000);
  expect(await tokens.current()).toBe('oneday.0123456789abcdef');
  await clock.advance(24 * HOUR);
  await addToken('newone', 24 * HOUR);
  expect(await tokens.current()).toBe('newone.0123456789abcdef');
  expect(await new BootstrapTokens({ kube, clock, configured: 'a.b' }).current()).toBe('a.b');
  await fixture.close();
});
