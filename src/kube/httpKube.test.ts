import { afterEach, describe, expect, it } from 'vitest';
import { SeededRandom } from '../clock/seededRandom.ts';
import { SystemClock } from '../clock/systemClock.ts';
import { Kinds } from '../api/kinds.ts';
import { isAlreadyExists, isConflict, isNotFound, isTooManyRequests, KubeError } from './errors.ts';
import { HttpKube } from './httpKube.ts';
import type { HttpSessionOptions } from './httpSession.ts';
import { answerJson, answerStatus, ScriptedServer, type Script } from '../../test/fixtures/kube/scriptedServer.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function serve(
  script: Script,
  options: Partial<HttpSessionOptions> = {},
): Promise<{ server: ScriptedServer; kube: HttpKube }> {
  const server = await ScriptedServer.start(script);
  const kube = new HttpKube({
    config: { server: server.url, tls: { insecureSkipVerify: false }, credentials: {} },
    clock: new SystemClock(),
    random: new SeededRandom(1),
    ...options,
  });
  cleanups.push(
    () => kube.close(),
    () => server[Symbol.asyncDispose](),
  );
  return { server, kube };
}

const ref = { name: 'web-1', namespace: 'apps' };

describe('HttpKube requests', () => {
  it('addresses, types and encodes every operation', async () => {
    const { server, kube } = await serve((_request, response) => answerJson(response, 200, { metadata: {} }));
    const options = { fieldManager: 'me', dryRun: true };
    await kube.get(Kinds.Pod, ref, { resourceVersion: '0' });
    await kube.get(Kinds.Deployment, ref, { subresource: 'scale' });
    await kube.list(Kinds.Pod, {
      labelSelector: 'a=b,c in (d)',
      fieldSelector: 'spec.nodeName=n',
      limit: 5,
      continue: 'x=',
    });
    await kube.list(Kinds.Pod, { namespace: 'apps', resourceVersion: '7', resourceVersionMatch: 'Exact' });
    await kube.create(Kinds.NodeClaim, { metadata: { generateName: 'general-' } } as never, options);
    await kube.replace(Kinds.Node, { metadata: { name: 'n1', resourceVersion: '3' } }, { subresource: 'status' });
    await kube.patch(Kinds.Node, { name: 'n1' }, { type: 'merge', body: { spec: { unschedulable: true } } });
    await kube.patch(Kinds.Pod, ref, { type: 'strategic', body: {} }, { subresource: 'status' });
    await kube.patch(Kinds.Pod, ref, { type: 'json', body: [{ op: 'test', path: '/a', value: 1 }] });
    await kube.patch(Kinds.NodePool, { name: 'general' }, { type: 'apply', body: { spec: {} } }, { force: true });
    await kube.delete(Kinds.Pod, ref);
    await kube.delete(Kinds.Pod, ref, {
      gracePeriodSeconds: 0,
      preconditions: { uid: 'u' },
      propagationPolicy: 'Orphan',
    });
    await kube.deleteCollection(Kinds.NodeClaim, { labelSelector: 'a=b', dryRun: true });
    await kube.evict(ref, { gracePeriodSeconds: 5 });
    await kube.bind(ref, 'n1');
    expect(
      server.requests.map(
        ({ method, path, query, headers, body }) =>
          `${method} ${path}?${decodeURIComponent(query.toString())} ${headers['content-type'] ?? '-'} ${body}`,
      ),
    ).toMatchInlineSnapshot(`
      [
        "GET /api/v1/namespaces/apps/pods/web-1?resourceVersion=0 - ",
        "GET /apis/apps/v1/namespaces/apps/deployments/web-1/scale? - ",
        "GET /api/v1/pods?labelSelector=a=b,c+in+(d)&fieldSelector=spec.nodeName=n&limit=5&continue=x= - ",
        "GET /api/v1/namespaces/apps/pods?resourceVersion=7&resourceVersionMatch=Exact - ",
        "POST /apis/karpenter.sh/v1/nodeclaims?fieldManager=me&dryRun=All application/json {"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","metadata":{"generateName":"general-"}}",
        "PUT /api/v1/nodes/n1/status? application/json {"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","resourceVersion":"3"}}",
        "PATCH /api/v1/nodes/n1? application/merge-patch+json {"spec":{"unschedulable":true}}",
        "PATCH /api/v1/namespaces/apps/pods/web-1/status? application/strategic-merge-patch+json {}",
        "PATCH /api/v1/namespaces/apps/pods/web-1? application/json-patch+json [{"op":"test","path":"/a","value":1}]",
        "PATCH /apis/karpenter.sh/v1/nodepools/general?fieldManager=nodewright&force=true application/apply-patch+yaml {"apiVersion":"karpenter.sh/v1","kind":"NodePool","spec":{}}",
        "DELETE /api/v1/namespaces/apps/pods/web-1? - ",
        "DELETE /api/v1/namespaces/apps/pods/web-1? application/json {"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0,"propagationPolicy":"Orphan","preconditions":{"uid":"u"}}",
        "DELETE /apis/karpenter.sh/v1/nodeclaims?labelSelector=a=b application/json {"apiVersion":"v1","kind":"DeleteOptions","dryRun":["All"]}",
        "POST /api/v1/namespaces/apps/pods/web-1/eviction? application/json {"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"web-1","namespace":"apps"},"deleteOptions":{"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":5}}",
        "POST /api/v1/namespaces/apps/pods/web-1/binding? application/json {"apiVersion":"v1","kind":"Binding","metadata":{"name":"web-1","namespace":"apps"},"target":{"apiVersion":"v1","kind":"Node","name":"n1"}}",
      ]
    `);
    expect(server.requests[0]?.headers).toMatchObject({ accept: 'application/json', 'user-agent': 'nodewright/0.1.0' });
  });

  it('returns decoded objects, and text where the server sends text', async () => {
    const { kube } = await serve((request, response) => {
      if (request.path === '/readyz') response.end('ok');
      else answerJson(response, 200, { metadata: { name: 'wéb-😀' } });
    });
    expect(await kube.get(Kinds.Pod, ref)).toEqual({ metadata: { name: 'wéb-😀' } });
    expect(await kube.raw('/readyz')).toBe('ok');
    expect(await kube.raw('version')).toEqual({ metadata: { name: 'wéb-😀' } });
  });

  it('sends its user agent, impersonation and base path', async () => {
    const { server, kube } = await serve((_request, response) => answerJson(response, 200, {}));
    const other = new HttpKube({
      config: {
        server: `${server.url}/proxied/cluster`,
        tls: { insecureSkipVerify: false },
        credentials: { basic: { username: 'me', password: 'secret' } },
        impersonate: { user: 'jane', groups: ['a', 'b'], extra: { 'example.com/scope': ['x'] } },
      },
      clock: new SystemClock(),
      random: new SeededRandom(1),
      userAgent: 'karpenter/1.2.3',
    });
    cleanups.unshift(() => other.close());
    await other.patch(Kinds.NodePool, { name: 'general' }, { type: 'apply', body: {} });
    await kube.raw('/');
    expect(server.requests[0]).toMatchObject({
      path: '/proxied/cluster/apis/karpenter.sh/v1/nodepools/general',
      headers: {
        'user-agent': 'karpenter/1.2.3',
        authorization: `Basic ${Buffer.from('me:secret').toString('base64')}`,
        'impersonate-user': 'jane',
        'impersonate-group': 'a, b',
        'impersonate-extra-example.com%2fscope': 'x',
      },
    });
    expect(server.requests[0]?.query.get('fieldManager')).toBe('karpenter');
  });

  it('refuses to address a namespaced object without its namespace, or nothing at all', async () => {
    const { server, kube } = await serve((_request, response) => answerJson(response, 200, {}));
    await expect(kube.get(Kinds.Pod, { name: 'web-1' })).rejects.toThrow(/Pod web-1.*no namespace/);
    await expect(kube.patch(Kinds.Node, { name: '' }, { type: 'merge', body: {} })).rejects.toThrow(/needs its name/);
    await expect(kube.delete(Kinds.Node, { name: '' })).rejects.toThrow(/needs its name/);
    expect(server.requests).toHaveLength(0);
  });

  it('reuses connections, up to the limit', async () => {
    const { server, kube } = await serve(
      (_request, response) => void setTimeout(() => answerJson(response, 200, {}), 5),
      { connections: 4 },
    );
    await Promise.all(Array.from({ length: 40 }, () => kube.get(Kinds.Pod, ref)));
    expect(new Set(server.requests.map((request) => request.connection)).size).toBeLessThanOrEqual(4);
  });

  it('keeps watches from blocking requests', async () => {
    const { kube } = await serve(
      (request, response) => {
        if (request.query.get('watch') === 'true') response.writeHead(200).flushHeaders();
        else answerJson(response, 200, {});
      },
      { connections: 1 },
    );
    const stop = new AbortController();
    const watches = Array.from({ length: 5 }, async () => {
      for await (const _event of kube.watch(Kinds.Pod, { signal: stop.signal })) throw new Error('unexpected');
    });
    expect(await kube.get(Kinds.Pod, ref)).toEqual({});
    stop.abort();
    await Promise.all(watches);
  });
});

describe('HttpKube errors', () => {
  it('carries the status of the server', async () => {
    const { kube } = await serve((_request, response, count) => {
      if (count === 0) answerStatus(response, 404, 'NotFound', 'pods "web-1" not found');
      else if (count === 1) answerStatus(response, 409, 'Conflict');
      else answerStatus(response, 409, 'AlreadyExists');
    });
    const failures = [
      await kube.get(Kinds.Pod, ref).catch((error: unknown) => error),
      await kube.replace(Kinds.Node, { metadata: { name: 'n' } }).catch((error: unknown) => error),
      await kube.create(Kinds.Node, { metadata: { name: 'n' } }).catch((error: unknown) => error),
    ];
    expect(isNotFound(failures[0])).toBe(true);
    expect(failures[0]).toMatchObject({ code: 404, message: 'pods "web-1" not found' });
    expect(isConflict(failures[1])).toBe(true);
    expect(isAlreadyExists(failures[2])).toBe(true);
  });

  it('makes a status of answers that have none', async () => {
    const { kube } = await serve(
      (request, response) => {
        const code = Number(request.path.slice(1));
        response.writeHead(code, { 'content-type': 'text/html' }).end(`<h1>\n  ${code}\n</h1>\n`);
      },
      { maxRetries: 0 },
    );
    const failures = await Promise.all(
      [400, 403, 404, 410, 418, 429, 500, 502, 503].map((code) =>
        kube.raw(`/${code}`).catch((error: unknown) => error),
      ),
    );
    expect(
      failures.map((error) => (error instanceof KubeError ? `${error.code} ${error.reason}: ${error.message}` : error)),
    ).toMatchInlineSnapshot(`
        [
          "400 BadRequest: GET /400: HTTP 400: <h1> 400 </h1>",
          "403 Forbidden: GET /403: HTTP 403: <h1> 403 </h1>",
          "404 NotFound: GET /404: HTTP 404: <h1> 404 </h1>",
          "410 Gone: GET /410: HTTP 410: <h1> 410 </h1>",
          "418 Unknown: GET /418: HTTP 418: <h1> 418 </h1>",
          "429 TooManyRequests: GET /429: HTTP 429: <h1> 429 </h1>",
          "500 InternalError: GET /500: HTTP 500: <h1> 500 </h1>",
          "502 Unknown: GET /502: HTTP 502: <h1> 502 </h1>",
          "503 ServiceUnavailable: GET /503: HTTP 503: <h1> 503 </h1>",
        ]
      `);
  });

  it('reports that a server cannot be reached', async () => {
    const { server, kube } = await serve(() => {}, { maxRetries: 1 });
    await server[Symbol.asyncDispose]();
    const error = await kube.get(Kinds.Pod, ref).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(KubeError);
    expect(error).toMatchObject({ code: 0, reason: 'Unreachable' });
    expect((error as Error).message).toContain('ECONNREFUSED');
    cleanups.pop();
  });

  it('ends with the reason of the signal', async () => {
    const { kube } = await serve(() => {});
    const reason = new Error('enough');
    const stop = new AbortController();
    const pending = kube.get(Kinds.Pod, { ...ref }, { signal: stop.signal });
    setTimeout(() => stop.abort(reason), 5);
    await expect(pending).rejects.toBe(reason);
    await expect(kube.get(Kinds.Pod, ref, { signal: stop.signal })).rejects.toBe(reason);
  });

  it('does not retry an eviction that a disruption budget refuses', async () => {
    const { server, kube } = await serve((_request, response) =>
      answerJson(response, 429, { kind: 'Status', code: 429, reason: 'TooManyRequests' }, { 'retry-after': '10' }),
    );
    const error = await kube.evict(ref).catch((caught: unknown) => caught);
    expect(isTooManyRequests(error)).toBe(true);
    expect((error as KubeError).retryAfter).toBe(10_000);
    expect(server.requests).toHaveLength(1);
  });
});
