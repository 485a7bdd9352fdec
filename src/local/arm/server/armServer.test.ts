import { connect, type TLSSocket } from 'node:tls';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ArmFixture } from '../../../../test/fixtures/local/armFixture.ts';

const RUNS = Number(process.env['NODEWRIGHT_PROPERTY_RUNS'] ?? 400);

describe('the server of the local Azure', () => {
  let fixture: ArmFixture;
  let token: string;

  beforeAll(async () => {
    fixture = await ArmFixture.start();
    ({ token } = await fixture.arm.credential.getToken());
  });
  afterAll(() => fixture.close());

  const open = (): Promise<TLSSocket> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(fixture.arm.endpoint);
      const socket = connect({ host: hostname, port: Number(port), ca: fixture.arm.caPem }, () => resolve(socket));
      socket.on('error', reject);
    });
  /** Sends bytes, waits for the answer or the end of the connection, and returns the answer. */
  const send = async (bytes: string): Promise<string> => {
    const socket = await open();
    return new Promise((resolve) => {
      let answer = '';
      const done = (): void => {
        socket.destroy();
        resolve(answer);
      };
      socket.on('data', (text: Buffer) => {
        answer += text.toString('latin1');
        done();
      });
      socket.on('close', done).on('error', done);
      socket.end(bytes, 'latin1');
    });
  };
  const status = async (): Promise<number> => (await fixture.ask('?api-version=2022-12-01')).status;

  it('survives uploads that break off, with and without a token', async () => {
    for (const authorization of ['', `authorization: Bearer ${token}\r\n`]) {
      const socket = await open();
      const target = `/subscriptions/${fixture.arm.subscriptionId}/resourceGroups/x?api-version=2022-12-01`;
      const head = `PUT ${target} HTTP/1.1\r\nhost: x\r\n${authorization}content-length: 100000\r\n\r\n`;
      await new Promise<void>((resolve) => socket.write(`${head}{"location":`, () => resolve()));
      socket.destroy();
      const chunked = await open();
      chunked.write(`POST ${target} HTTP/1.1\r\nhost: x\r\n${authorization}transfer-encoding: chunked\r\n\r\n5\r\nhe`);
      chunked.destroy();
    }
    // The server sees a reset one turn of the event loop after the client has sent it.
    expect(await status()).toBe(200);
    expect(await status()).toBe(200);
  });

  it('answers 413 to an upload that is too large', async () => {
    const body = 'x'.repeat(5 * 1024 * 1024);
    expect(await fixture.ask('resourceGroups/x?api-version=2022-12-01', { method: 'PUT', body })).toMatchObject({
      status: 413,
      body: { error: { code: 'RequestContentTooLarge' } },
    });
  });

  it('survives any bytes', async () => {
    const start = fc.constantFrom(
      'GET / HTTP/1.1\r\n',
      'PUT /%zz HTTP/1.1\r\n',
      'GET http://[ HTTP/1.1\r\n',
      '\r\n',
      '',
    );
    const bytes = fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each).toString('latin1'));
    await fc.assert(
      fc.asyncProperty(start, bytes, async (first, rest) => {
        expect(await send(`${first}${rest}\r\n\r\n`)).not.toMatch(/^HTTP\/1.1 5/);
      }),
      { numRuns: 60 },
    );
    expect(await status()).toBe(200);
  });

  it('answers no request with 500', async () => {
    const subscription = `/subscriptions/${fixture.arm.subscriptionId}`;
    const group = `${subscription}/resourceGroups/${fixture.group}`;
    const types = [
      'Microsoft.Compute/virtualMachines',
      'Microsoft.Compute/disks',
      'Microsoft.Network/networkInterfaces',
      'Microsoft.Network/virtualNetworks',
      'Microsoft.Network/loadBalancers',
      'Microsoft.ContainerService/managedClusters',
      'Microsoft.ManagedIdentity/userAssignedIdentities',
      'Microsoft.Nothing/things',
    ];
    const name = fc.constantFrom('a', '%', '..', 'x%2f', 'local', '%00', 'ä', '');
    const child = fc.constantFrom(
      '',
      '/agentPools/p',
      '/agentPools/p/machines/m',
      '/subnets/s',
      '/extensions/e',
      '/%zz',
    );
    const resource = fc
      .tuple(fc.constantFrom(...types), name, child)
      .map(([type, each, below]) => `${group}/providers/${type}/${each}${below}`);
    const fixed = fc.constantFrom(
      '/',
      '//',
      '/%',
      ':',
      'http://[',
      subscription,
      `${subscription}/resourceGroups/%zz`,
      `${subscription}/resourceGroups/%zz/providers/Microsoft.Resources/tags/default`,
      `${subscription}/resources`,
      '/providers/Microsoft.ResourceGraph/resources',
      `${subscription}/providers/Microsoft.Compute/skus`,
      '/x/oauth2/v2.0/token',
      '/sig/token',
      '/imds/a/b/metadata/instance',
      '/imds/a/b/metadata/scheduledevents',
      '/api/retail/prices',
    );
    const query = fc.constantFrom(
      '',
      '?api-version=2024-07-01',
      '?api-version=2022-12-01&$filter=(',
      '?$skip=x&$top=-1',
    );
    const words = `properties location tags zones identity hardwareProfile storageProfile osDisk id networkProfile networkInterfaces ipConfigurations subnet subnets
      addressSpace name query addressPrefixes agentPoolProfiles count options sku dataDisks lun vmSize mode`;
    const word = fc.constantFrom(...words.split(/\s+/));
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.constantFrom(null, true, 'eastus', '10.0.0.0/99', 'System'));
    const { body: json } = fc.letrec<{ body: unknown }>((tie) => ({
      body: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        leaf,
        fc.array(tie('body'), { maxLength: 2 }),
        fc.dictionary(word, tie('body'), { maxKeys: 5 }),
      ),
    }));
    const text = fc.oneof({ arbitrary: json.map((each) => JSON.stringify(each)), weight: 9 }, fc.string());
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'HEAD', 'TRACE'),
        fc.tuple(fc.oneof(resource, fixed), query).map(([path, asked]) => `${path}${asked}`),
        text,
        fc.constantFrom<Readonly<Record<string, string>>>(
          { authorization: `Bearer ${token}`, 'content-type': 'application/json', metadata: 'true' },
          { authorization: `Bearer ${token}`, 'content-type': 'application/json', batchputmachine: '{' },
          { authorization: 'Bearer a.b.c', metadata: 'true' },
        ),
        async (method, target, body, headers) => {
          const answer = await fixture.arm.handle({ method, target, headers, text: body });
          expect(answer.status < 500 ? '' : `${method} ${target} ${body}\n${answer.text}`).toBe('');
        },
      ),
      { numRuns: RUNS },
    );
  });
});
