import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { Kinds, type Node } from '../api/kinds.ts';
import { SeededRandom } from '../clock/seededRandom.ts';
import { VirtualClock } from '../clock/virtualClock.ts';
import { HttpKube } from './httpKube.ts';
import { Informers, type Informer, type InformerEvent, type InformersOptions } from './informer.ts';
import {
  answerJson,
  answerStatus,
  eventually,
  ScriptedServer,
  type ReceivedRequest,
  type Script,
} from '../../test/fixtures/kube/scriptedServer.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const node = (
  name: string,
  version: number,
  changes: { uid?: string; labels?: Record<string, string> } = {},
): Node => ({
  metadata: {
    name,
    uid: changes.uid ?? `uid-${name}`,
    resourceVersion: String(version),
    ...(changes.labels === undefined ? {} : { labels: changes.labels }),
  },
});

const page = (response: ServerResponse, version: number, items: readonly Node[], next?: string): void =>
  answerJson(response, 200, {
    kind: 'NodeList',
    metadata: { resourceVersion: String(version), ...(next === undefined ? {} : { continue: next }) },
    items,
  });

/** One watch that the server holds open. */
class OpenWatch {
  readonly request: ReceivedRequest;
  readonly response: ServerResponse;

  constructor(request: ReceivedRequest, response: ServerResponse) {
    this.request = request;
    this.response = response;
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  }

  send(type: string, object: object): void {
    this.response.write(`${JSON.stringify({ type, object })}\n`);
  }

  bookmark(version: number, annotations = {}): void {
    this.send('BOOKMARK', { metadata: { resourceVersion: String(version), annotations } });
  }
}

interface World {
  readonly server: ScriptedServer;
  readonly clock: VirtualClock;
  readonly informers: Informers;
  readonly informer: Informer<Node>;
  readonly watches: OpenWatch[];
  readonly events: string[];
  readonly errors: string[];
  readonly stop: AbortController;
  /** What was asked, one line per request. */
  asked(): string[];
}

const isWatch = (request: ReceivedRequest): boolean => request.query.get('watch') === 'true';

/** An informer on nodes, running against a server whose lists `script` answers; watches stay open. */
async function follow(
  script: Script,
  options: Partial<InformersOptions> & { readonly watch?: Script } = {},
): Promise<World> {
  const { watch, ...tuning } = options;
  const watches: OpenWatch[] = [];
  const server = await ScriptedServer.start((request, response, count) => {
    if (!isWatch(request)) return script(request, response, count);
    if (watch === undefined) watches.push(new OpenWatch(request, response));
    return watch?.(request, response, count);
  });
  const clock = new VirtualClock();
  const random = new SeededRandom(7);
  const kube = new HttpKube({
    config: { server: server.url, tls: { insecureSkipVerify: false }, credentials: {} },
    clock,
    random,
    maxRetries: 0,
  });
  const errors: string[] = [];
  const informers = new Informers({
    kube,
    clock,
    random,
    onError: (error, kind) => errors.push(`${kind.plural}: ${(error as Error).message}`),
    ...tuning,
  });
  const informer = informers.of(Kinds.Node, {
    indexes: { pool: (object) => [object.metadata.labels?.['pool'] ?? ''] },
  });
  const events: string[] = [];
  informer.subscribe((event) => events.push(describeEvent(event)));
  const stop = new AbortController();
  const running = informers.run(stop.signal);
  cleanups.push(async () => {
    stop.abort();
    await running;
    await kube.close();
    await server[Symbol.asyncDispose]();
  });
  const asked = (): string[] =>
    server.requests.map(
      ({ query }) =>
        `${query.has('watch') ? 'watch' : 'list'} ${['limit', 'continue', 'resourceVersion', 'sendInitialEvents']
          .filter((name) => query.has(name))
          .map((name) => `${name}=${query.get(name)}`)
          .join(' ')}`,
    );
  return { server, clock, informers, informer, watches, events, errors, stop, asked };
}

const describeEvent = (event: InformerEvent<Node>): string =>
  `${event.type} ${event.object.metadata.name}@${event.object.metadata.resourceVersion}` +
  (event.type === 'updated' ? ` was ${event.old.metadata.resourceVersion}` : '');

const latest = (world: World): OpenWatch => {
  const watch = world.watches.at(-1);
  if (watch === undefined) throw new Error('no watch is open');
  return watch;
};

describe('an informer', () => {
  it('lists in pages, then receives every change', async () => {
    const world = await follow(
      (request, response) =>
        request.query.get('continue') === null
          ? page(response, 10, [node('a', 1), node('b', 2)], 'more')
          : page(response, 10, [node('c', 3, { labels: { pool: 'x' } })]),
      { pageSize: 2 },
    );
    expect(world.informer.hasSynced).toBe(false);
    await world.informers.synced();
    expect(world.informer.hasSynced).toBe(true);
    await eventually(() => world.watches.length === 1);
    const watch = latest(world);
    watch.send('MODIFIED', node('a', 11, { labels: { pool: 'x' } }));
    watch.send('ADDED', node('d', 12));
    watch.send('DELETED', node('b', 13));
    await eventually(() => world.events.length === 6);
    expect(world.events).toEqual([
      'added a@1',
      'added b@2',
      'added c@3',
      'updated a@11 was 1',
      'added d@12',
      'deleted b@13',
    ]);
    expect(world.informer.store.size).toBe(3);
    expect(world.informer.store.byIndex('pool', 'x').map((object) => object.metadata.name)).toEqual(['c', 'a']);
    expect(world.informer.store.get({ name: 'c' })).toMatchObject({ apiVersion: 'v1', kind: 'Node' });
    expect(world.asked()).toEqual(['list limit=2', 'list limit=2 continue=more', 'watch resourceVersion=10']);
    expect(watch.request.query.get('allowWatchBookmarks')).toBe('true');
    expect(Number(watch.request.query.get('timeoutSeconds'))).toBeGreaterThanOrEqual(300);
    expect(world.errors).toEqual([]);
  });

  it('resumes where the last event or bookmark left off when a watch ends', async () => {
    const world = await follow((_request, response) => page(response, 10, []));
    await eventually(() => world.watches.length === 1);
    latest(world).send('ADDED', node('a', 11));
    await eventually(() => world.events.length === 1);
    await world.clock.advance(5_000);
    latest(world).response.end();
    await eventually(() => world.watches.length === 2);
    latest(world).bookmark(40);
    await eventually(() => world.clock.pendingWork === 0);
    await world.clock.advance(5_000);
    latest(world).response.end();
    await eventually(() => world.watches.length === 3);
    expect(world.asked()).toEqual([
      'list limit=500',
      'watch resourceVersion=10',
      'watch resourceVersion=11',
      'watch resourceVersion=40',
    ]);
    expect(world.errors).toEqual([]);
  });

  it('resumes after a connection that broke in the middle of an event, and says so', async () => {
    const world = await follow((_request, response) => page(response, 10, []));
    await eventually(() => world.watches.length === 1);
    latest(world).send('ADDED', node('a', 11));
    latest(world).response.write('{"type":"MODIFIED","object":{"metadata":{"na');
    await eventually(() => world.events.length === 1);
    latest(world).response.destroy();
    await eventually(() => world.errors.length === 1);
    await world.clock.runUntil(() => world.watches.length === 2);
    expect(world.clock.now()).toBeGreaterThanOrEqual(800);
    expect(world.clock.now()).toBeLessThanOrEqual(1_600);
    expect(world.asked().at(-1)).toBe('watch resourceVersion=11');
    latest(world).send('MODIFIED', node('a', 12));
    await eventually(() => world.events.length === 2);
  });

  it('lists again when its version is gone, and reports only what differs', async () => {
    for (const gone of ['as an answer', 'in the stream']) {
      let expired = false;
      const world = await follow(
        (_request, response, count) =>
          count === 0
            ? page(response, 10, [node('same', 1), node('changed', 2), node('lost', 3), node('reborn', 4)])
            : page(response, 20, [node('same', 1), node('changed', 12), node('reborn', 14, { uid: 'other' })]),
        {
          watch: (request, response) => {
            if (expired) return void new OpenWatch(request, response);
            expired = true;
            if (gone === 'as an answer') return answerStatus(response, 410, 'Expired');
            new OpenWatch(request, response).send('ERROR', { kind: 'Status', code: 410, reason: 'Expired' });
          },
        },
      );
      await eventually(() => world.server.requests.length === 4);
      expect(world.events.slice(4)).toEqual([
        'updated changed@12 was 2',
        'deleted reborn@4',
        'added reborn@14',
        'deleted lost@3',
      ]);
      expect(world.asked()).toEqual([
        'list limit=500',
        'watch resourceVersion=10',
        'list limit=500',
        'watch resourceVersion=20',
      ]);
      expect(world.clock.now()).toBe(0);
      expect(world.errors).toEqual([]);
    }
  });

  it('lists again when the server does not know its version, as after a restore', async () => {
    const world = await follow((_request, response, count) => page(response, count === 0 ? 900 : 10, []), {
      watch: (request, response) => {
        if (request.query.get('resourceVersion') === '10') return void new OpenWatch(request, response);
        const details = { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] };
        answerJson(response, 504, { kind: 'Status', code: 504, reason: 'Timeout', details });
      },
    });
    await eventually(() => world.server.requests.length === 4);
    expect(world.asked().slice(1)).toEqual(['watch resourceVersion=900', 'list limit=500', 'watch resourceVersion=10']);
  });

  it('pauses between lists when the version is gone again and again', async () => {
    const world = await follow((_request, response, count) => page(response, count, []), {
      watch: (_request, response) => answerStatus(response, 410, 'Gone'),
    });
    await eventually(() => world.server.requests.length === 4);
    await world.clock.advance(60_000);
    // Without pauses there would be thousands.
    expect(world.server.requests.length).toBeGreaterThan(6);
    expect(world.server.requests.length).toBeLessThan(24);
  });

  it('lists without pages when the pages expire under way', async () => {
    const world = await follow((request, response) => {
      if (request.query.has('continue')) answerStatus(response, 410, 'Expired');
      else if (request.query.has('limit')) page(response, 10, [node('a', 1), node('old', 2)], 'more');
      else page(response, 15, [node('a', 1), node('b', 12)]);
    });
    await world.informers.synced();
    expect(world.events).toEqual(['added a@1', 'added old@2', 'added b@12', 'deleted old@2']);
    expect(world.asked().slice(0, 3)).toEqual(['list limit=500', 'list limit=500 continue=more', 'list ']);
  });

  it('never gives up, with growing pauses up to half a minute', async () => {
    const times: number[] = [];
    let healthy = false;
    const world = await follow((_request, response) => {
      times.push(world.clock.now());
      if (healthy) page(response, 10, [node('a', 1)]);
      else answerStatus(response, 500, 'InternalError', 'etcd is away');
    });
    await eventually(() => times.length === 1);
    await world.clock.advance(600_000);
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses[0]).toBeGreaterThanOrEqual(800);
    expect(pauses[0]).toBeLessThanOrEqual(1_600);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000);
    expect(Math.min(...pauses.slice(6))).toBeGreaterThanOrEqual(15_000);
    expect(world.errors).toHaveLength(times.length);
    expect(world.errors[0]).toBe('nodes: etcd is away');
    healthy = true;
    await world.clock.runUntil(() => world.informer.hasSynced);
    expect(world.events).toEqual(['added a@1']);
  });

  it('waits as long as a busy server asks', async () => {
    const world = await follow((_request, response, count) =>
      count === 0 ? answerJson(response, 429, {}, { 'retry-after': '20' }) : page(response, 10, []),
    );
    await eventually(() => world.errors.length === 1);
    await world.clock.advance(19_000);
    expect(world.server.requests).toHaveLength(1);
    await world.clock.advance(1_100);
    await world.informers.synced();
  });

  it('does not spin when a server ends every watch at once', async () => {
    const world = await follow((_request, response) => page(response, 10, []), {
      watch: (request, response, count) => {
        const watch = new OpenWatch(request, response);
        watch.send('ADDED', node(`n${count}`, 100 + count));
        response.end();
      },
    });
    await eventually(() => world.events.length === 1);
    await world.clock.advance(60_000);
    expect(world.server.requests.length).toBeGreaterThan(4);
    expect(world.server.requests.length).toBeLessThan(16);
  });

  it('leaves a connection that has gone silent', async () => {
    const world = await follow((_request, response) => page(response, 10, []));
    await eventually(() => world.watches.length === 1);
    await eventually(() => world.clock.pendingWork === 0);
    const seconds = Number(latest(world).request.query.get('timeoutSeconds'));
    await world.clock.advance((seconds + 29) * 1000);
    expect(world.watches).toHaveLength(1);
    await world.clock.advance(5_000);
    await eventually(() => world.watches.length === 2);
    expect(world.errors).toEqual([`nodes: the watch was silent for ${seconds + 30} s; connecting anew`]);
    expect(world.asked().at(-1)).toBe('watch resourceVersion=10');
  });

  it('leaves it sooner when the server used to send bookmarks', async () => {
    const world = await follow((_request, response) => page(response, 10, []));
    await eventually(() => world.watches.length === 1);
    latest(world).bookmark(11);
    await eventually(() => world.clock.pendingWork === 0);
    await world.clock.advance(149_000);
    expect(world.watches).toHaveLength(1);
    await world.clock.advance(5_000);
    await eventually(() => world.watches.length === 2);
    expect(world.errors).toEqual(['nodes: the watch was silent for 150 s; connecting anew']);
    expect(world.asked().at(-1)).toBe('watch resourceVersion=11');
    await world.clock.advance(155_000);
    await eventually(() => world.watches.length === 3);
  });

  it('stays on a connection that sends bookmarks', async () => {
    const world = await follow((_request, response) => page(response, 10, []));
    await eventually(() => world.watches.length === 1);
    for (let minute = 1; minute <= 20; minute++) {
      latest(world).bookmark(10 + minute);
      await new Promise((resolve) => setTimeout(resolve, 5));
      await world.clock.advance(60_000);
    }
    expect(world.watches).toHaveLength(1);
  });
});

describe('a streamed list', () => {
  const unused: Script = (_request, response) => answerStatus(response, 500, 'InternalError', 'no list was expected');

  it('is complete at its bookmark', async () => {
    const world = await follow(unused, { listing: 'streaming' });
    await eventually(() => world.watches.length === 1);
    latest(world).send('ADDED', node('b', 5));
    latest(world).send('ADDED', node('a', 3));
    await eventually(() => world.events.length === 2);
    expect(world.informer.hasSynced).toBe(false);
    latest(world).bookmark(9, { 'k8s.io/initial-events-end': 'true' });
    await world.informers.synced();
    await world.clock.advance(2_000);
    latest(world).response.end();
    await eventually(() => world.watches.length === 2);
    expect(world.asked()).toEqual(['watch sendInitialEvents=true', 'watch resourceVersion=9']);
    expect(world.errors).toEqual([]);
  });

  it('falls back to pages where it is refused', async () => {
    const watches: string[] = [];
    const world = await follow((_request, response) => page(response, 10, [node('a', 1)]), {
      listing: 'streaming',
      watch: (request, response) => {
        watches.push(request.query.toString());
        if (request.query.has('sendInitialEvents'))
          answerStatus(response, 422, 'Invalid', 'sendInitialEvents is forbidden');
        else void new OpenWatch(request, response);
      },
    });
    await world.informers.synced();
    await eventually(() => watches.length === 2);
    expect(world.asked()).toEqual(['watch sendInitialEvents=true', 'list limit=500', 'watch resourceVersion=10']);
  });

  it('falls back to pages where the server does not end the initial events', async () => {
    const world = await follow((_request, response) => page(response, 10, [node('a', 1)]), { listing: 'streaming' });
    await eventually(() => world.watches.length === 1);
    latest(world).send('ADDED', node('a', 1));
    latest(world).send('ADDED', node('ghost', 2));
    await eventually(() => world.events.length === 2);
    await world.clock.advance(31_000);
    await world.informers.synced();
    expect(world.events).toEqual(['added a@1', 'added ghost@2', 'deleted ghost@2']);
  });
});

describe('subscribers', () => {
  it('may come late, leave early, and throw', async () => {
    const world = await follow((_request, response) => page(response, 10, [node('a', 1)]));
    world.informer.subscribe(() => {
      throw new Error('listener broke');
    });
    await eventually(() => world.watches.length === 1);
    const late: string[] = [];
    const unsubscribe = world.informer.subscribe((event) => late.push(describeEvent(event)));
    expect(late).toEqual(['added a@1']);
    latest(world).send('MODIFIED', node('a', 11));
    await eventually(() => world.events.length === 2);
    unsubscribe();
    latest(world).send('MODIFIED', node('a', 12));
    await eventually(() => world.events.length === 3);
    expect(late).toEqual(['added a@1', 'updated a@11 was 1']);
    expect(new Set(world.errors)).toEqual(new Set(['nodes: listener broke']));
  });

  it('receive nothing twice when they subscribe during an event', async () => {
    const world = await follow((_request, response) => page(response, 10, []));
    const inner: string[] = [];
    let subscribed = false;
    world.informer.subscribe(() => {
      if (subscribed) return;
      subscribed = true;
      world.informer.subscribe((event) => inner.push(describeEvent(event)));
    });
    await eventually(() => world.watches.length === 1);
    latest(world).send('ADDED', node('a', 11));
    await eventually(() => world.events.length === 1);
    expect(inner).toEqual(['added a@11']);
  });
});

describe('Informers', () => {
  it('share what is the same, start what comes late, and stop together', async () => {
    const world = await follow((_request, response) => page(response, 10, [node('a', 1)]));
    const byName = (object: Node): readonly string[] => [object.metadata.name];
    expect(world.informers.of(Kinds.Node, { indexes: { name: byName } })).toBe(world.informer);
    await world.informers.synced();
    expect(world.informer.store.byIndex('name', 'a')).toHaveLength(1);
    const selected = world.informers.of(Kinds.Node, { labelSelector: 'a=b' });
    const whole = world.informers.of(Kinds.Node, { transform: (object) => object });
    expect(new Set([world.informer, selected, whole]).size).toBe(3);
    await world.informers.synced();
    expect(
      world.server.requests.filter((request) => request.query.get('labelSelector') === 'a=b').length,
    ).toBeGreaterThan(0);
    await eventually(() => world.watches.length === 3);
    world.stop.abort();
    await eventually(() => world.watches.every((watch) => watch.response.closed));
  });

  it('may be many on one signal', async () => {
    const warnings: string[] = [];
    const onWarning = (warning: Error): number => warnings.push(warning.message);
    process.on('warning', onWarning);
    const world = await follow((_request, response) => page(response, 10, []));
    for (let index = 0; index < 30; index++) world.informers.of(Kinds.Node, { labelSelector: `index=${index}` });
    await world.informers.synced(new AbortController().signal);
    await eventually(() => world.watches.length === 31);
    world.stop.abort();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  it('let a wait for them be aborted', async () => {
    const world = await follow(() => {});
    const stop = new AbortController();
    const waiting = world.informers.synced(stop.signal);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(world.informer.synced(stop.signal)).rejects.toThrow('enough');
  });
});

describe('an optional informer', () => {
  it('does not hold up the others while it is forbidden, is reported once, and fills when it is allowed', async () => {
    let allowed = false;
    const world = await follow((request, response) => {
      if (!request.path.endsWith('/limitranges')) return page(response, 1, [node('a', 1)]);
      return allowed
        ? page(response, 1, [{ metadata: { name: 'r', namespace: 'n', uid: 'u', resourceVersion: '1' } }])
        : answerStatus(response, 403, 'Forbidden');
    });
    const ranges = world.informers.of(Kinds.LimitRange, { optional: true });
    await world.informers.synced();
    expect([world.informer.hasSynced, ranges.hasSynced]).toEqual([true, false]);
    await world.clock.advance(120_000);
    expect(world.errors).toHaveLength(1);
    expect(world.errors[0]).toMatch(/^limitranges: /);
    allowed = true;
    await world.clock.advance(60_000);
    await eventually(() => ranges.hasSynced);
    expect([...ranges.store.list()]).toHaveLength(1);
  });
});
