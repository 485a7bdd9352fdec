import { describe, expect, it } from 'vitest';
import { node, page, follow, latest, OpenWatch, describeEvent } from '../../test/fixtures/kube/followedNodes.ts';
import { answerStatus, eventually, type Script } from '../../test/fixtures/kube/scriptedServer.ts';
import { Kinds, type Node } from '../api/kinds.ts';

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
