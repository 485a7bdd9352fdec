/** The server over HTTPS with our own client, and behaviour of HTTP that the client hides. */
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderCrds } from '../../api/crds.ts';
import { Kinds } from '../../api/kinds.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import { HttpKube } from '../../kube/httpKube.ts';
import { Informers } from '../../kube/informer.ts';
import { LocalApiServer, type Endpoint } from './localApiServer.ts';

const clock = new SystemClock();
let server: LocalApiServer;
let endpoint: Endpoint;
let kube: HttpKube;

beforeAll(async () => {
  server = new LocalApiServer({ clock, random: systemRandom });
  endpoint = await server.listen();
  kube = new HttpKube({
    config: {
      server: endpoint.url,
      tls: { ca: endpoint.caPem, insecureSkipVerify: false },
      credentials: { token: { value: endpoint.token } },
    },
    clock,
    random: systemRandom,
    maxRetries: 0,
  });
});

afterAll(async () => {
  await server.close();
});

interface Answer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

async function ask(
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: string; client?: boolean; anonymous?: boolean } = {},
): Promise<Answer> {
  const credentials =
    options.client === true
      ? { cert: endpoint.clientCertificate.certificate, key: endpoint.clientCertificate.privateKey }
      : {};
  const bearer: Record<string, string> =
    options.anonymous === true || options.client === true ? {} : { authorization: `Bearer ${endpoint.token}` };
  return await new Promise((resolve, reject) => {
    const sent = request(
      `${endpoint.url}${path}`,
      { method, ca: endpoint.caPem, ...credentials, headers: { ...bearer, ...options.headers } },
      (response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => (body += chunk.toString()));
        response.on('end', () => resolve({ code: response.statusCode ?? 0, headers: response.headers, body }));
      },
    );
    sent.on('error', reject);
    sent.end(options.body);
  });
}

describe('HTTPS', () => {
  it('accepts tokens and client certificates only', async () => {
    expect((await ask('GET', '/api/v1/namespaces', { anonymous: true })).code).toBe(403);
    expect(
      (await ask('GET', '/api/v1/namespaces', { anonymous: true, headers: { authorization: 'Bearer nonsense' } })).code,
    ).toBe(401);
    expect((await ask('GET', '/api/v1/namespaces')).code).toBe(200);
    expect((await ask('GET', '/api/v1/namespaces', { client: true })).code).toBe(200);
    expect((await ask('GET', '/readyz?verbose', { anonymous: true })).body).toContain('readyz check passed');
  });

  it('answers failures with Status objects', async () => {
    const { code, body } = await ask('GET', '/api/v1/namespaces/default/pods/none');
    expect(code).toBe(404);
    expect(JSON.parse(body)).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'pods "none" not found',
      reason: 'NotFound',
      details: { name: 'none', kind: 'pods' },
      code: 404,
    });
    expect((await ask('GET', '/apis/none.example/v1/things')).code).toBe(404);
    expect((await ask('PUT', '/api/v1/namespaces')).code).toBe(405);
    const headers = { 'content-type': 'application/json' };
    expect((await ask('POST', '/api/v1/namespaces/default/configmaps', { headers, body: '{' })).code).toBe(400);
    expect(
      (await ask('POST', '/api/v1/namespaces/default/configmaps', { headers, body: 'x'.repeat(4_000_000) })).code,
    ).toBe(413);
  });

  it('rejects malformed URLs', async () => {
    for (const path of ['/%', '/api/v1/namespaces/%zz', '/api/v1/pods%c3%28', '/%E0%A4%A']) {
      expect([path, (await ask('GET', path)).code]).toEqual([path, 400]);
    }
    expect((await ask('GET', '//api/v1/namespaces')).code).toBe(404);
    expect((await ask('GET', '//')).code).toBe(404);
  });

  it('returns the reason why a proxied service or pod cannot be reached', async () => {
    const spec = { ports: [{ name: 'http', port: 80 }], selector: { app: 'web' } };
    await kube.create(Kinds.Service, { metadata: { name: 'web', namespace: 'default' }, spec });
    const message = async (path: string): Promise<unknown> => {
      const { code, body } = await ask('GET', `/api/v1/namespaces/default/${path}`);
      return [code, (JSON.parse(body) as { message: string }).message];
    };
    expect(await message('services/web:80/proxy/')).toEqual([404, 'services "web" not found']);
    expect(await message('services/web:81/proxy/a/b?c=d')).toEqual([503, 'no service port 81 found for service "web"']);
    expect(await message('services/a:web:80:1/proxy')).toEqual([400, 'invalid service request "a:web:80:1"']);
    expect(await message('services/none:80/proxy')).toEqual([404, 'services "none" not found']);
    await kube.create(Kinds.Pod, {
      metadata: { name: 'web', namespace: 'default' },
      spec: { containers: [{ name: 'c', image: 'x' }] },
    });
    expect(await message('pods/web:80/proxy/')).toEqual([400, 'address not allowed']);
  });

  it('warns of deprecated versions of custom resources in every response', async () => {
    for (const crd of renderCrds()) await server.kube.create(Kinds.CustomResourceDefinition, crd);
    const versioned = (version: string): string => `/apis/karpenter.azure.com/${version}/aksnodeclasses`;
    const { code, headers } = await ask('GET', versioned('v1alpha2'));
    expect([code, headers['warning']]).toEqual([200, '299 - "use v1beta1.AKSNodeClass instead"']);
    expect((await ask('GET', `${versioned('v1alpha2')}/none`)).headers['warning']).toBe(headers['warning']);
    expect((await ask('GET', versioned('v1beta1'))).headers['warning']).toBeUndefined();
  });

  it('encodes warnings with any characters', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ metadata: { name: 'größe' }, größe: 1, '\u007f': 2 });
    const { code, headers: answered } = await ask('POST', '/api/v1/namespaces/default/configmaps', { headers, body });
    expect(code).toBe(422);
    expect(Buffer.from(String(answered['warning']), 'latin1').toString()).toBe('299 - "unknown field \\"größe\\""');
  });

  it('warns of unknown fields unless told to reject or ignore them', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ metadata: { name: 'warned' }, dta: { a: 'b' } });
    const path = '/api/v1/namespaces/default/configmaps';
    expect((await ask('POST', `${path}?fieldValidation=Strict`, { headers, body })).code).toBe(400);
    const warned = await ask('POST', path, { headers, body });
    expect(warned.code).toBe(201);
    expect(warned.headers['warning']).toBe('299 - "unknown field \\"dta\\""');
  });

  it('renders tables', async () => {
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
    const table = JSON.parse((await ask('GET', '/api/v1/namespaces/kube-system', { headers })).body) as Record<
      string,
      unknown
    >;
    expect(table).toMatchObject({
      kind: 'Table',
      columnDefinitions: [{ name: 'Name' }, { name: 'Status' }, { name: 'Age' }],
      rows: [{ object: { kind: 'PartialObjectMetadata', metadata: { name: 'kube-system' } } }],
    });
    const [row] = table['rows'] as { cells: unknown[] }[];
    expect(row?.cells.slice(0, 2)).toEqual(['kube-system', 'Active']);
  });

  it('sends Expired to a watch from a compacted resource version', async () => {
    await server.kube.create(Kinds.ConfigMap, { metadata: { name: 'before', namespace: 'default' } });
    server.compact();
    const { code, body } = await ask('GET', '/api/v1/configmaps?watch=true&resourceVersion=1');
    expect(code).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
  });

  it('serves OpenAPI documents for every group version of its index', async () => {
    const index = JSON.parse((await ask('GET', '/openapi/v3')).body) as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    const urls = Object.values(index.paths).map((entry) => entry.serverRelativeURL);
    expect(urls.length).toBeGreaterThan(15);
    for (const url of urls) {
      const { code, body } = await ask('GET', url);
      expect([url, code]).toEqual([url, 200]);
      const document = JSON.parse(body) as { components: { schemas: Record<string, unknown> } };
      for (const [, name = ''] of body.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
        expect(document.components.schemas).toHaveProperty([name]);
      }
    }
  });
});

describe('HttpKube', () => {
  it('reads and writes', async () => {
    const created = await kube.create(Kinds.ConfigMap, {
      metadata: { name: 'c', namespace: 'default' },
      data: { a: '1' },
    });
    const replaced = await kube.replace(Kinds.ConfigMap, { ...created, data: { a: '2' } });
    expect(replaced.data).toEqual({ a: '2' });
    await expect(kube.replace(Kinds.ConfigMap, { ...created, data: { a: '3' } })).rejects.toMatchObject({
      reason: 'Conflict',
    });
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c', namespace: 'default' },
      data: { b: '1' },
    };
    const applied = await kube.patch(
      Kinds.ConfigMap,
      { name: 'c', namespace: 'default' },
      { type: 'apply', body },
      { fieldManager: 'x' },
    );
    expect(applied.data).toEqual({ a: '2', b: '1' });
    await kube.delete(Kinds.ConfigMap, { name: 'c', namespace: 'default' });
    await expect(kube.get(Kinds.ConfigMap, { name: 'c', namespace: 'default' })).rejects.toMatchObject({
      reason: 'NotFound',
    });
  });

  it('binds and evicts pods', async () => {
    const ref = { name: 'p', namespace: 'default' };
    await kube.create(Kinds.Pod, { metadata: ref, spec: { containers: [{ name: 'c', image: 'x' }] } });
    await kube.bind(ref, 'n1');
    expect((await kube.get(Kinds.Pod, ref)).spec?.nodeName).toBe('n1');
    await kube.evict(ref);
    expect((await kube.get(Kinds.Pod, ref)).metadata.deletionTimestamp).toBeDefined();
  });

  it('feeds an informer through changes and a compaction', async () => {
    const informers = new Informers({ kube, clock, random: systemRandom });
    const informer = informers.of(Kinds.Secret, { namespace: 'default' });
    const stop = new AbortController();
    const running = informers.run(stop.signal);
    await informer.synced();
    const store = informer.store;
    const until = (holds: () => boolean): Promise<void> =>
      new Promise((resolve) => {
        const unsubscribe = informer.subscribe(() => queueMicrotask(() => check()));
        const check = (): void => {
          if (!holds()) return;
          unsubscribe();
          resolve();
        };
        check();
      });
    await server.kube.create(Kinds.Secret, { metadata: { name: 'a', namespace: 'default' } });
    await until(() => [...store.list()].length === 1);
    server.compact();
    await server.kube.create(Kinds.Secret, { metadata: { name: 'b', namespace: 'default' } });
    await server.kube.delete(Kinds.Secret, { name: 'a', namespace: 'default' });
    await until(() => [...store.list()].map((secret) => secret.metadata.name).join() === 'b');
    expect(store.get({ name: 'b', namespace: 'default' })?.metadata.name).toBe('b');
    stop.abort();
    await running;
  });
});
