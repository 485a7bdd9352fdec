import { afterEach, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startHealthServer } from './healthServer.ts';
import type { HealthServerOptions } from './healthServer.ts';
import type { HttpEndpoint } from './httpEndpoint.ts';
import { PrometheusMetrics } from './metrics.ts';
import { Gate } from './gate.ts';
import { isLoopback, metricsHandler, startMetricsServer } from './metricsServer.ts';

const host = '127.0.0.1';
const running: HttpEndpoint[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((endpoint) => endpoint.stop()));
});

async function get(endpoint: HttpEndpoint, path: string, init?: RequestInit) {
  const response = await fetch(`http://${host}:${endpoint.port}${path}`, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const TOKEN = 'of-an-operator';
const gate = (): Gate => new Gate({ reviewToken: async (token) => token === TOKEN, wayIn: 'bring a token' });

async function startMetrics(enableProfiling: boolean): Promise<HttpEndpoint> {
  const metrics = new PrometheusMetrics({ build: { version: '0' } });
  const endpoint = await startMetricsServer({ port: 0, host, metrics, profiles: enableProfiling ? gate() : undefined });
  running.push(endpoint);
  return endpoint;
}

const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };
const profile = (endpoint: HttpEndpoint, path: string) =>
  get(endpoint, `/debug/pprof/${path}`, { headers: AUTHORIZED });

async function startHealth(options: Partial<HealthServerOptions>): Promise<HttpEndpoint> {
  const endpoint = await startHealthServer({ port: 0, host, ...options });
  running.push(endpoint);
  return endpoint;
}

describe('metrics server', () => {
  it('serves Prometheus text', async () => {
    const { status, headers, text } = await get(await startMetrics(false), '/metrics');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(text).toContain('karpenter_build_info{');
  });

  it('serves the metrics of other clusters below its own, by resource group and name', async () => {
    const own = new PrometheusMetrics({ build: { version: '0' } });
    const other = new PrometheusMetrics({ build: { version: '1' } });
    const others = (path: string): PrometheusMetrics | undefined => (path === 'mine/first' ? other : undefined);
    const endpoint = await startMetricsServer({ port: 0, host, metrics: own, others });
    running.push(endpoint);
    expect((await get(endpoint, '/metrics')).text).toContain('version="0"');
    expect((await get(endpoint, '/metrics/mine/First')).text).toContain('version="1"');
    expect((await get(endpoint, '/metrics/mine/none')).status).toBe(404);
  });

  it('refuses writes and other addresses', async () => {
    const endpoint = await startMetrics(false);
    expect((await get(endpoint, '/metrics', { method: 'POST' })).status).toBe(405);
    expect((await get(endpoint, '/')).status).toBe(404);
    expect((await get(endpoint, '/debug/pprof/profile')).text).toBe(
      'profiling is off; start with --enable-profiling\n',
    );
  });

  it('gives metrics to everyone and profiles only to connections from a loopback address', async () => {
    const metrics = new PrometheusMetrics({ build: { version: '0' } });
    const handle = metricsHandler({ metrics, profiles: gate() });
    // A connection over a Unix socket has no address, so it is none of this host's; every test host has such sockets.
    const folder = await mkdtemp(join(tmpdir(), 'nodewright-metrics-'));
    const socketPath = join(folder, 'socket');
    const server = createServer((request, response) => void handle(request, response)).listen(socketPath);
    await once(server, 'listening');
    const ask = async (path: string): Promise<[number | undefined, string]> => {
      const [response] = (await once(request({ socketPath, path }).end(), 'response')) as [IncomingMessage];
      return [response.statusCode, await text(response)];
    };
    expect(await ask('/debug/pprof/heap')).toEqual([
      403,
      'profiles are served to this host only; use kubectl port-forward\n',
    ]);
    expect((await ask('/metrics'))[0]).toBe(200);
    server.close();
    await rm(folder, { recursive: true });
    expect((await profile(await startMetrics(true), '')).status).toBe(200);
  });

  it.each([
    ['no token', {}, 401],
    ['a token that may not', { authorization: 'Bearer another' }, 401],
    ['a foreign Host', { authorization: `Bearer ${TOKEN}`, host: 'evil.example' }, 403],
    ['a foreign Origin', { authorization: `Bearer ${TOKEN}`, origin: 'http://evil.example' }, 403],
    ['another site', { authorization: `Bearer ${TOKEN}`, 'sec-fetch-site': 'cross-site' }, 403],
  ])('gives no profile to %s', async (_who, headers, status) => {
    const { port } = await startMetrics(true);
    for (const path of ['/debug/pprof', '/debug/pprof/', '/debug/pprof/heap', '/debug/pprof/profile?seconds=0.1']) {
      const asked = request({ host, port, path, headers }).end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      expect([path, response.statusCode]).toEqual([path, status]);
      expect(await text(response)).not.toContain('snapshot');
    }
    expect((await get({ port, stop: async () => {} }, '/metrics')).status).toBe(200);
  });

  it('recognises connections from this host', () => {
    expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].every(isLoopback)).toBe(true);
    expect(['10.0.0.1', '::ffff:10.0.0.1', '1270.0.0.1', 'fe80::1', undefined].some(isLoopback)).toBe(false);
  });

  it('takes a CPU profile', async () => {
    const { status, headers, text } = await profile(await startMetrics(true), 'profile?seconds=0.1');
    expect([status, headers.get('content-disposition')]).toEqual([200, 'attachment; filename="nodewright.cpuprofile"']);
    expect(JSON.parse(text)).toMatchObject({
      nodes: expect.any(Array) as unknown,
      startTime: expect.any(Number) as unknown,
    });
  });

  it('samples allocations and takes heap snapshots', async () => {
    const endpoint = await startMetrics(true);
    expect(JSON.parse((await profile(endpoint, 'allocs?seconds=0.1')).text)).toHaveProperty('head');
    expect((await profile(endpoint, 'heap')).text).toMatch(/^\{"snapshot":\{"meta":/);
  });

  it('takes one profile at a time, of bounded length', async () => {
    const endpoint = await startMetrics(true);
    const abort = new AbortController();
    const first = await fetch(`http://${host}:${endpoint.port}/debug/pprof/profile?seconds=120`, {
      signal: abort.signal,
      headers: AUTHORIZED,
    });
    expect(first.status).toBe(200);
    expect((await profile(endpoint, 'heap')).status).toBe(503);
    abort.abort();
    // A client that hangs up frees the profiler long before its two minutes are over.
    await expect
      .poll(async () => (await profile(endpoint, 'profile?seconds=0.05')).status, { timeout: 10_000 })
      .toBe(200);
    for (const seconds of ['121', '0', '-1', 'x'])
      expect((await profile(endpoint, `profile?seconds=${seconds}`)).status).toBe(400);
    expect((await profile(endpoint, 'goroutine')).status).toBe(404);
    expect((await profile(endpoint, '')).text).toContain('/debug/pprof/heap');
  });

  it('says that a port is taken and which option changes it', async () => {
    const { port } = await startMetrics(false);
    const second = startMetricsServer({
      port,
      host,
      metrics: new PrometheusMetrics({ build: { version: '0' } }),
    });
    await expect(second).rejects.toMatchObject({
      code: 'PortUnavailable',
      message: `port ${port} for metrics: another process listens there`,
      remedy: 'choose another with --metrics-port or METRICS_PORT',
    });
  });

  it('frees its port when it stops', async () => {
    const endpoint = await startMetrics(false);
    await get(endpoint, '/metrics');
    await running.pop()?.stop();
    const again = await startHealth({ port: endpoint.port });
    expect(again.port).toBe(endpoint.port);
  });
});

describe('health server', () => {
  const caches = { name: 'caches', check: () => Promise.reject(new Error('pods are not listed yet')) };
  const fine = { name: 'crds', check: () => undefined };

  it('is alive without any checks', async () => {
    const endpoint = await startHealth({});
    expect(await get(endpoint, '/healthz')).toMatchObject({ status: 200, text: 'ok' });
    expect(await get(endpoint, '/readyz')).toMatchObject({ status: 200, text: 'ok' });
  });

  it('names the checks that fail', async () => {
    const endpoint = await startHealth({ readiness: [fine, caches] });
    expect(await get(endpoint, '/healthz')).toMatchObject({ status: 200, text: 'ok' });
    expect(await get(endpoint, '/readyz')).toMatchObject({
      status: 500,
      text: '[-]caches failed: pods are not listed yet\nreadyz check failed\n',
    });
    expect(await get(endpoint, '/readyz?verbose')).toMatchObject({
      status: 500,
      text: '[+]ping ok\n[+]crds ok\n[-]caches failed: pods are not listed yet\nreadyz check failed\n',
    });
  });

  it('reports the current result of its checks', async () => {
    let ready = false;
    const check = { name: 'late', check: () => (ready ? undefined : 'not yet') };
    const endpoint = await startHealth({ readiness: [check] });
    expect((await get(endpoint, '/readyz')).status).toBe(500);
    ready = true;
    expect((await get(endpoint, '/readyz')).status).toBe(200);
  });

  it('runs one check, or leaves some out', async () => {
    const endpoint = await startHealth({ readiness: [fine, caches] });
    expect((await get(endpoint, '/readyz/crds')).status).toBe(200);
    expect((await get(endpoint, '/readyz/caches')).status).toBe(500);
    expect((await get(endpoint, '/readyz?exclude=caches')).status).toBe(200);
    expect((await get(endpoint, '/readyz/other')).status).toBe(404);
    expect((await get(endpoint, '/other')).status).toBe(404);
  });

  it('fails a check that does not answer in time', async () => {
    const stuck = { name: 'stuck', check: () => new Promise<undefined>(() => undefined) };
    const endpoint = await startHealth({ liveness: [stuck], checkTimeoutMilliseconds: 20 });
    expect(await get(endpoint, '/healthz')).toMatchObject({
      status: 500,
      text: '[-]stuck failed: no answer within 20 ms\nhealthz check failed\n',
    });
  });
});
