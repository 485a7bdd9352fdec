import { request } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { paperShop } from '../../test/fixtures/dashboard/paperShop.ts';
import { startThread } from '../../test/fixtures/dashboard/startThread.ts';
import type { HttpEndpoint } from '../server/httpEndpoint.ts';
import { ROUTES, type PageFiles } from './pageFiles.ts';
import type { NodeScreen, NodesScreen, NowScreen, PendingScreen, StreamMessage, WhatIfAnswer } from './screens.ts';
import { startDashboard, type DashboardOptions } from './server.ts';

const PAGE: PageFiles = {
  index: '<!doctype html><title>page</title>',
  assets: new Map([['page.js', { type: 'text/javascript', body: Buffer.from('1') }]]),
  routes: ROUTES,
};

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

class Visitor {
  readonly addresses: string[] = [];
  cookie = '';
  private endpoint: HttpEndpoint | undefined;

  async start(options: Partial<DashboardOptions> = {}): Promise<this> {
    this.endpoint = await startDashboard({
      source: paperShop(),
      port: 0,
      setting: 'test',
      page: PAGE,
      startThread,
      onAddress: (address) => this.addresses.push(address),
      sleep: (_time, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
      ...options,
    });
    return this;
  }

  /** `fetch` would not let a test choose Host, Origin or a path with dots. */
  ask(path: string, headers: Record<string, string> = {}, method = 'GET', body = ''): Promise<Reply> {
    const port = this.endpoint?.port ?? 0;
    return new Promise((resolve, reject) => {
      const asked = request(
        { host: '127.0.0.1', port, path, method, headers: { ...(this.cookie && { cookie: this.cookie }), ...headers } },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (part: string) => (text += part));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
        },
      );
      asked.on('error', reject);
      asked.end(body);
    });
  }

  get host(): string {
    return `127.0.0.1:${this.endpoint?.port ?? 0}`;
  }

  get token(): string {
    return new URL(this.addresses.at(-1) ?? '').searchParams.get('token') ?? '';
  }

  async enter(): Promise<void> {
    const { headers } = await this.ask(`/?token=${this.token}`);
    this.cookie = String(headers['set-cookie']).split(';')[0] ?? '';
  }

  async json<T>(path: string): Promise<T> {
    const { status, text } = await this.ask(path);
    if (status !== 200) throw new Error(`${status} ${text}`);
    return JSON.parse(text) as T;
  }

  stop(): Promise<void> {
    return this.endpoint?.stop() ?? Promise.resolve();
  }
}

let visitor = new Visitor();
afterEach(async () => {
  await visitor.stop();
  visitor = new Visitor();
});

describe('the gate', () => {
  it('admits a browser once with the token, and issues another one', async () => {
    await visitor.start();
    const [first] = visitor.addresses;
    const token = visitor.token;
    const reply = await visitor.ask(`/?token=${token}`);
    expect(reply.status).toBe(200);
    expect(String(reply.headers['set-cookie'])).toMatch(
      /^nodewright-dashboard=[\w-]{32}; HttpOnly; SameSite=Strict; Path=\/$/,
    );
    expect(reply.text).toContain('content="0;url=/now"');
    expect(visitor.addresses).toHaveLength(2);
    expect(visitor.addresses[1]).not.toBe(first);
    const again = await visitor.ask(`/?token=${token}`);
    expect([again.status, again.headers['set-cookie']]).toEqual([401, undefined]);
  });

  it.each(['/api/now', '/api/stream', '/api/nodes', '/api/explain/default/stranger'])(
    'answers nothing without a session: %s',
    async (path) => {
      await visitor.start();
      visitor.cookie = 'nodewright-dashboard=guessed';
      expect((await visitor.ask(path)).status).toBe(401);
    },
  );

  it('shows how to sign in, and nothing of the page', async () => {
    await visitor.start();
    const { status, text } = await visitor.ask('/now');
    expect([status, text.includes('nodewright dashboard'), text.includes('<title>page')]).toEqual([401, true, false]);
  });

  it.each([
    ['a foreign Host', { host: 'evil.example' }],
    ['a Host that only begins like ours', { host: '127.0.0.1.evil.example' }],
    ['a foreign Origin', { origin: 'http://evil.example' }],
    ['the origin of a sandboxed frame', { origin: 'null' }],
    ['a request from another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }],
  ])('refuses %s even with a session', async (_name, headers: Record<string, string>) => {
    await visitor.start();
    await visitor.enter();
    expect((await visitor.ask('/api/now')).status).toBe(200);
    const reply = await visitor.ask('/api/now', headers);
    expect([reply.status, reply.headers['access-control-allow-origin']]).toEqual([403, undefined]);
  });

  it.each(['localhost', '[::1]'])('knows this host as %s too, as kubectl port-forward has it', async (name) => {
    await visitor.start();
    await visitor.enter();
    expect((await visitor.ask('/api/now', { host: `${name}:8080`, origin: `http://${name}:8080` })).status).toBe(200);
  });

  it('serves nothing but its own files', async () => {
    await visitor.start();
    await visitor.enter();
    for (const path of ['/../package.json', '/%2e%2e/package.json', '/..%2fpackage.json', '/.env', '/%ff']) {
      expect([path, [400, 404].includes((await visitor.ask(path)).status)]).toEqual([path, true]);
    }
    expect((await visitor.ask('/page.js')).text).toBe('1');
  });

  it('only reads', async () => {
    await visitor.start();
    await visitor.enter();
    const origin = `http://${visitor.host}`;
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await visitor.ask('/api/now', { origin }, method)).status).toBe(405);
      expect((await visitor.ask('/api/now', {}, method)).status).toBe(403);
    }
  });

  it('sends every page with a strict policy', async () => {
    await visitor.start();
    await visitor.enter();
    const { headers } = await visitor.ask('/now');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['x-frame-options']).toBe('DENY');
    expect(headers['cache-control']).toBe('no-store');
  });

  it('accepts a token of the cluster if the API server accepts it', async () => {
    const reviewed: string[] = [];
    const { onAddress: _, ...rest } = { onAddress: undefined };
    await visitor.start({
      ...rest,
      reviewToken: async (token) => {
        reviewed.push(token);
        return token === 'good';
      },
    });
    expect((await visitor.ask('/api/now', { authorization: 'Bearer good' })).status).toBe(200);
    expect((await visitor.ask('/api/now', { authorization: 'Bearer bad' })).status).toBe(401);
    const form = { origin: `http://${visitor.host}`, 'content-type': 'application/x-www-form-urlencoded' };
    expect((await visitor.ask('/sign-in', form, 'POST', 'token=bad')).status).toBe(401);
    const reply = await visitor.ask('/sign-in', form, 'POST', 'token=good');
    expect([reply.status, String(reply.headers['set-cookie']).includes('HttpOnly')]).toEqual([200, true]);
    // An answer holds for a moment: the API server is not asked for every file.
    expect(reviewed).toEqual(['good', 'bad']);
  });

  it('ends the session of a token that the API server no longer accepts', async () => {
    const clock = vi.spyOn(Date, 'now');
    const started = Date.now();
    let isGood = true;
    const { onAddress: _, ...rest } = { onAddress: undefined };
    await visitor.start({ ...rest, reviewToken: async () => isGood });
    const form = { origin: `http://${visitor.host}`, 'content-type': 'application/x-www-form-urlencoded' };
    const { headers } = await visitor.ask('/sign-in', form, 'POST', 'token=good');
    visitor.cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    expect((await visitor.ask('/api/now')).status).toBe(200);
    isGood = false;
    clock.mockReturnValue(started + 60_000);
    expect((await visitor.ask('/api/now')).status).toBe(401);
    clock.mockRestore();
  });
});

describe('the data', () => {
  it('reports the state of the cluster, its cost and the waiting pods', async () => {
    await visitor.start();
    await visitor.enter();
    const now = await visitor.json<NowScreen>('/api/now');
    expect(now.totals).toMatchObject({ nodes: 3, readyNodes: 3, pods: 3, pending: 1 });
    expect(now.totals.pricePerHour).toBeCloseTo(0.65);
    expect(now.pools).toMatchObject([{ name: 'default', nodes: 3, pods: 3 }]);
    const { nodes } = await visitor.json<NodesScreen>('/api/nodes');
    expect(nodes.map(({ name, cpu }) => [name, Math.round(cpu * 100)])).toEqual([
      ['node-a', 77],
      ['node-b', 6],
      ['node-c', 53],
    ]);
    const { groups } = await visitor.json<PendingScreen>('/api/pending');
    expect(groups).toMatchObject([
      { workload: 'default/Pod/stranger', count: 1, example: 'default/stranger', reason: '' },
    ]);
  });

  it('explains a pod and a node as `explain` does', async () => {
    await visitor.start();
    await visitor.enter();
    const pod = await visitor.json<{ sentence: string; constraint: string }>('/api/explain/default/stranger');
    expect(pod.sentence).toContain('NodePool "default"');
    const node = await visitor.json<NodeScreen>('/api/nodes/node-b');
    expect(node.explanation?.sentence).toContain('nothing keeps it');
    expect(node.pods).toEqual([{ name: 'default/web-2', workload: 'default/Pod/web-2', cpu: 0.5, memory: 1 }]);
    expect((await visitor.ask('/api/nodes/never')).status).toBe(404);
    expect((await visitor.ask('/api/explain/default/never')).status).toBe(404);
  });

  it('reports mistakes in a NodePool, and the effect of a valid one', async () => {
    await visitor.start();
    await visitor.enter();
    const origin = `http://${visitor.host}`;
    const post = async (body: string): Promise<WhatIfAnswer> =>
      JSON.parse((await visitor.ask('/api/what-if', { origin }, 'POST', body)).text) as WhatIfAnswer;
    expect((await post('kind: Pod')).problems).not.toEqual([]);
    expect((await visitor.ask('/api/what-if', { origin }, 'POST', 'x'.repeat(300_000))).status).toBe(413);
  });

  it('sends all nodes first, then only what changed', async () => {
    const source = paperShop();
    await visitor.start({ source });
    await visitor.enter();
    const messages: StreamMessage[] = [];
    const stream = request({
      host: '127.0.0.1',
      port: Number(visitor.host.split(':')[1]),
      path: '/api/stream?nodes',
      headers: { cookie: visitor.cookie },
    });
    await new Promise<void>((resolve, reject) => {
      stream.on('error', reject);
      stream.on('response', (response) => {
        response.setEncoding('utf8');
        response.on('data', (text: string) => {
          for (const line of text.split('\n')) {
            if (line.startsWith('data: ')) messages.push(JSON.parse(line.slice(6)) as StreamMessage);
          }
          if (messages.length === 1) source.paper.addNode({ name: 'node-d', type: 't2' });
          if (messages.some(({ nodes }) => nodes?.changed.length === 1)) resolve();
        });
      });
      stream.end();
    });
    stream.destroy();
    expect(messages[0]?.nodes?.changed).toHaveLength(3);
    expect(messages.at(-1)?.nodes).toMatchObject({ changed: [{ name: 'node-d' }], gone: [] });
  });

  it('says that it waits while nothing is known', async () => {
    const source = paperShop();
    Object.assign(source, { picture: async () => undefined, controllerState: 'starting' });
    await visitor.start({ source });
    await visitor.enter();
    expect(await visitor.json('/api/now')).toEqual({ waiting: true, state: 'starting' });
  });
});
