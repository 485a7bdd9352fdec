/**
 * The server survives any request: random paths, headers and bodies, interrupted uploads, and half-closed sockets. After
 * them the server must be ready, and lists must succeed.
 */
import { connect, type TLSSocket } from 'node:tls';
import fc from 'fast-check';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderCrds } from '../../../api/crds.ts';
import { Kinds } from '../../../api/kinds.ts';
import { SystemClock } from '../../../clock/systemClock.ts';
import { systemRandom } from '../../../clock/systemRandom.ts';
import { LocalApiServer, type Endpoint } from '../localApiServer.ts';

let server: LocalApiServer;
let endpoint: Endpoint;
let agent: Agent;
const warnings: Error[] = [];
const onWarning = (warning: Error): number => warnings.push(warning);

beforeAll(async () => {
  process.on('warning', onWarning);
  server = new LocalApiServer({ clock: new SystemClock(), random: systemRandom });
  for (const crd of renderCrds()) await server.kube.create(Kinds.CustomResourceDefinition, crd);
  endpoint = await server.listen();
  agent = new Agent({ connect: { ca: endpoint.caPem }, pipelining: 1 });
});

afterAll(async () => {
  process.off('warning', onWarning);
  await agent.close();
  await server.close();
});

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

async function send({ method, path, headers, body }: Sent): Promise<{ code: number; text: string }> {
  const answer = await request(`${endpoint.url}${path}`, {
    method: method as 'GET',
    headers: { authorization: `Bearer ${endpoint.token}`, ...headers },
    ...(body === undefined ? {} : { body }),
    dispatcher: agent,
    headersTimeout: 20_000,
    bodyTimeout: 20_000,
  });
  return { code: answer.statusCode, text: await answer.body.text() };
}

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const LISTS = [
  '/api/v1/pods',
  '/api/v1/configmaps',
  '/api/v1/namespaces',
  '/api/v1/services',
  '/apis/apps/v1/deployments',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/karpenter.sh/v1/nodepools',
  '/apis/karpenter.azure.com/v1alpha2/aksnodeclasses',
];

/** Returns warnings, and failed requests that must succeed. */
async function defects(): Promise<unknown[]> {
  const found: unknown[] = [...warnings];
  const ready = await send({ method: 'GET', path: '/readyz', headers: {} });
  if (ready.text !== 'ok') found.push(ready);
  for (const path of LISTS) {
    for (const accept of ['application/json', TABLE]) {
      const answer = await send({ method: 'GET', path, headers: { accept } });
      if (answer.code !== 200) found.push([path, answer]);
    }
  }
  return found;
}

const POD = { metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'x' }] } };
const POOL = {
  metadata: { name: 'p', labels: { a: 'b' }, annotations: { a: 'b' }, finalizers: ['a/b'], ownerReferences: [] },
  spec: { template: { spec: { nodeClassRef: { group: 'g', kind: 'K', name: 'n' }, requirements: [] } } },
};
const SELECTOR = { selector: { matchLabels: { a: 'b' } } };
const DEPLOYMENT = {
  metadata: { name: 'd' },
  spec: { ...SELECTOR, replicas: 1, template: { metadata: { labels: { a: 'b' } }, spec: POD.spec } },
};
const DEFINITION = {
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: {} } } } },
        additionalPrinterColumns: [{ name: 'X', type: 'string', jsonPath: '.spec.x' }],
        selectableFields: [{ jsonPath: '.spec.x' }],
        subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
      },
    ],
  },
};
const SERVICE = { metadata: { name: 's' }, spec: { ports: [{ port: 80, name: 'http' }], type: 'NodePort' } };
const MAP = { metadata: { name: 'm', managedFields: [{ manager: 'x', operation: 'Update', fieldsV1: {} }] }, data: {} };

const BODIES: readonly (readonly [path: string, body: object])[] = [
  ['/api/v1/namespaces/default/pods', POD],
  ['/apis/karpenter.sh/v1/nodepools', POOL],
  ['/apis/apps/v1/namespaces/default/deployments', DEPLOYMENT],
  ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', DEFINITION],
  ['/apis/example.com/v1/namespaces/default/things', { metadata: { name: 't' }, spec: { x: 'y', n: 1 } }],
  ['/api/v1/namespaces/default/services', SERVICE],
  ['/api/v1/namespaces/default/configmaps', MAP],
  ['/apis/policy/v1/namespaces/default/poddisruptionbudgets', { metadata: { name: 'b' }, spec: SELECTOR }],
  ['/apis/rbac.authorization.k8s.io/v1/clusterroles', { metadata: { name: 'r' }, rules: [{ verbs: ['get'] }] }],
  ['/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: { resourceAttributes: { verb: 'get' } } }],
];

const junk = fc.oneof(
  fc.constantFrom(null, true, -1, 0, 1.5, 1e300, 3_000_000_000, '', 'x', '%', '\0', 'constructor', '__proto__', [], {}),
  fc.constantFrom([null], [[]], { a: null }, { constructor: 1 }, { $patch: 'delete' }, { 'k:{': {} }, { 'f:a': 'ab' }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Replaces the value at a path (of indexes, modulo the number of members). */
function mutated(value: unknown, path: readonly number[], replacement: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return replacement;
  if (Array.isArray(value)) {
    if (value.length === 0) return [replacement];
    return value.map((item: unknown, index) =>
      index === step % value.length ? mutated(item, rest, replacement) : item,
    );
  }
  const names = Object.keys(value);
  const chosen = names[step % Math.max(1, names.length)] ?? 'x';
  const member = (value as Record<string, unknown>)[chosen];
  return { ...value, [chosen]: mutated(member, rest, replacement) };
}

const segment = fc.oneof(
  fc.constantFrom('api', 'apis', 'v1', 'namespaces', 'default', 'pods', 'a', 'status', 'scale', 'log', 'proxy', 'exec'),
  fc.constantFrom(
    'karpenter.sh',
    'nodepools',
    'p',
    'openapi',
    'v2',
    'v3',
    '..',
    '%2e%2e',
    '%2F',
    '%',
    '%zz',
    '',
    ':80',
  ),
  fc.string({ maxLength: 6 }).map(encodeURIComponent),
);
const query = fc.oneof(
  fc.constantFrom('', '?limit=-1', '?limit=x', '?labelSelector=a%20in%20(', '?fieldSelector==', '?continue=%00', '?%'),
  fc.constantFrom('?resourceVersion=9999999999999999999999', '?gracePeriodSeconds=1e9', '?dryRun=All', '?dryRun=x'),
  fc.constantFrom('?watch=true&timeoutSeconds=1&resourceVersion=x', '?fieldManager=constructor&force=true', '?a=b#c'),
);
const headers = fc.record(
  {
    accept: fc.constantFrom(TABLE, 'application/yaml', 'x', 'application/json;as=constructor', 'application/json;as'),
    'content-type': fc.constantFrom(
      'application/json',
      'application/yaml',
      'application/merge-patch+json',
      'application/json-patch+json',
      'application/strategic-merge-patch+json',
      'application/apply-patch+yaml',
      'application/vnd.kubernetes.protobuf',
      'constructor',
    ),
    'impersonate-user': fc.constantFrom('x', '', 'system:serviceaccount:a:b'),
    'impersonate-extra-%zz': fc.constant('x'),
    authorization: fc.constantFrom('Bearer', 'Bearer a.b.c', 'Basic x'),
  },
  { requiredKeys: [] },
);
const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS');

/** Internal errors are defects of ours; those of upstream have no reason, or the excepted messages. */
function expectNoInternalError(sent: Sent, { code, text }: { code: number; text: string }): void {
  const isOurs = code === 500 && text.includes('"reason":"InternalError"') && !/no kubelet|impersonat/.test(text);
  expect([sent, isOurs ? text : '']).toEqual([sent, '']);
}

describe('any request', () => {
  it('to any path gets a response', { timeout: 60_000 }, async () => {
    const paths = fc.array(segment, { maxLength: 7 }).map((parts) => `/${parts.join('/')}`);
    const body = fc.oneof(
      fc.constant(undefined),
      fc.string(),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(method, paths, query, headers, body, async (verb, path, rest, extra, sentBody) => {
        const sent = { method: verb, path: path + rest, headers: extra, body: verb === 'GET' ? undefined : sentBody };
        expectNoInternalError(sent, await send(sent));
      }),
      { numRuns: 300 },
    );
    expect(await defects()).toEqual([]);
  });

  it('with any body leaves its kind usable', { timeout: 90_000 }, async () => {
    const kinds = fc.constantFrom(...BODIES);
    const verbs = fc.constantFrom('POST', 'PUT', 'merge', 'json', 'strategic', 'apply', 'status', 'DELETE');
    await fc.assert(
      fc.asyncProperty(
        kinds,
        verbs,
        fc.array(fc.nat(6), { maxLength: 6 }),
        junk,
        async ([path, body], verb, place, bad) => {
          const changed = mutated(body, place, bad);
          const { name } = (body as { metadata?: { name?: string } }).metadata ?? {};
          const single = `${path}/${name ?? 'x'}`;
          const type = verb === 'apply' ? 'application/apply-patch+yaml' : `application/${verb}-patch+json`;
          const patchType = verb === 'strategic' ? 'application/strategic-merge-patch+json' : type;
          const isPatch = !['POST', 'PUT', 'DELETE', 'status'].includes(verb);
          const sent: Sent = {
            method: isPatch ? 'PATCH' : verb === 'status' ? 'PUT' : verb,
            path: verb === 'POST' ? path : `${single}${verb === 'status' ? '/status' : ''}?fieldManager=fuzz`,
            headers: { 'content-type': isPatch ? patchType : 'application/json' },
            body: JSON.stringify(verb === 'json' ? [{ op: 'replace', path: '/spec', value: bad }] : changed),
          };
          expectNoInternalError(sent, await send(sent));
        },
      ),
      { numRuns: 600 },
    );
    expect(await defects()).toEqual([]);
  });

  it('that is nested too deeply is rejected', async () => {
    const path = '/apis/karpenter.sh/v1/nodepools';
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const body = `{"metadata":{"name":"deep"},"spec":${open.repeat(100_000)}1${close.repeat(100_000)}}`;
      expect((await send({ method: 'POST', path, headers: { 'content-type': 'application/json' }, body })).code).toBe(
        400,
      );
    }
    expect(await defects()).toEqual([]);
  });

  it('whose patch doubles the object repeatedly is rejected', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    const type = { 'content-type': 'application/json' };
    const body = JSON.stringify({ metadata: { name: 'bomb' }, data: { a: 'x'.repeat(1000) } });
    expect((await send({ method: 'POST', path, headers: type, body })).code).toBe(201);
    const operations = Array.from({ length: 60 }, (_, index) => ({
      op: 'copy',
      from: '/data',
      path: `/data/x${index}`,
    }));
    const patch = { 'content-type': 'application/json-patch+json' };
    const sent = { method: 'PATCH', path: `${path}/bomb`, headers: patch, body: JSON.stringify(operations) };
    expect((await send(sent)).code).toBe(413);
  });
});

describe('any connection', () => {
  const { hostname, port } = { hostname: '127.0.0.1', port: (): number => Number(new URL(endpoint.url).port) };

  /** Opens a TLS socket, and resolves when either side has closed it. */
  async function raw(use: (socket: TLSSocket) => void): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const socket = connect({ host: hostname, port: port(), ca: endpoint.caPem, ALPNProtocols: ['http/1.1'] });
      socket.once('secureConnect', () => use(socket));
      socket.on('error', () => undefined);
      socket.setTimeout(10_000, () => reject(new Error('the server kept the connection')));
      socket.once('close', () => resolve());
      socket.resume();
    });
  }

  const head = (length: number): string =>
    `POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${endpoint.token}\r\n` +
    `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

  it('may be interrupted or half closed during an upload', async () => {
    const body = '{"metadata":{"name":"part"}}';
    await fc.assert(
      fc.asyncProperty(fc.nat(body.length), fc.boolean(), async (sentLength, isDestroyed) => {
        await raw((socket) => {
          socket.write(head(body.length + 1) + body.slice(0, sentLength));
          if (isDestroyed) setImmediate(() => socket.destroy());
          else socket.end();
        });
      }),
      { numRuns: 20 },
    );
    expect(await defects()).toEqual([]);
  });

  it('may send bytes that are not HTTP, or be closed during a watch', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 64 }), async (bytes) => {
        await raw((socket) => socket.end(Buffer.from(bytes)));
      }),
      { numRuns: 20 },
    );
    const watch = `GET /api/v1/configmaps?watch=true HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${endpoint.token}\r\n\r\n`;
    await raw((socket) => {
      socket.write(watch);
      socket.once('data', () => socket.destroy());
    });
    expect(await defects()).toEqual([]);
  });
});
