import { describe, expect, it } from 'vitest';
import { node, page, follow, latest, OpenWatch } from '../../test/fixtures/kube/followedNodes.ts';
import { answerJson, answerStatus, eventually } from '../../test/fixtures/kube/scriptedServer.ts';

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

  it('tells when a watch breaks off, but not when it ends at its time', async () => {
    let broken = 0;
    const world = await follow((_request, response) => page(response, 10, []), { onBroken: () => (broken += 1) });
    await eventually(() => world.watches.length === 1);
    await eventually(() => world.clock.pendingWork === 0);
    await world.clock.advance(Number(latest(world).request.query.get('timeoutSeconds')) * 1000);
    latest(world).response.end();
    await eventually(() => world.watches.length === 2);
    expect(broken).toBe(0);
    await world.clock.advance(5_000);
    latest(world).response.end();
    await eventually(() => world.watches.length === 3);
    expect(broken).toBe(1);
    latest(world).response.destroy();
    await eventually(() => broken === 2);
    world.stop.abort();
    await eventually(() => world.clock.pendingWork === 0);
    expect(broken).toBe(2);
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

  it('does not loop when a server ends every watch at once', async () => {
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

  it('leaves a connection that has become silent', async () => {
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
