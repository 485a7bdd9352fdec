import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds } from '../../../src/api/kinds.ts';
import type { ConfigMap } from '../../../src/api/kinds.ts';
import { isExpired } from '../../../src/kube/errors.ts';
import type { Kube, WatchEvent, WatchOptions } from '../../../src/kube/kube.ts';
import { startControlPlane } from '../../controlplane/controlPlane.ts';
import type { ControlPlane } from '../../controlplane/controlPlane.ts';
import { eventually } from '../../controlplane/eventually.ts';
import { startTroubledProxy } from '../../controlplane/troubledProxy.ts';
import type { TroubledProxy } from '../../controlplane/troubledProxy.ts';
import { connections } from './connect.ts';
import { failure } from './failure.ts';

const namespace = 'default';
const many = 3_000;

describe('reading from a real API server', () => {
  const connect = connections();
  let plane: ControlPlane;
  let kube: Kube;
  let proxy: TroubledProxy;
  let proxied: string;

  beforeAll(async () => {
    plane = await startControlPlane();
    kube = await connect(plane.adminKubeconfig);
    proxy = await startTroubledProxy(plane.server);
    proxied = await plane.kubeconfigFor('far-away', ['system:masters'], proxy.url);
    await kube.create(Kinds.Namespace, { metadata: { name: 'many' } });
    const indexes = Array.from({ length: many }, (_, index) => index);
    const writers = Array.from({ length: 16 }, async () => {
      for (let index = indexes.pop(); index !== undefined; index = indexes.pop()) {
        const metadata = { name: `item-${index}`, namespace: 'many', labels: { odd: String(index % 2) } };
        await kube.create(Kinds.ConfigMap, { metadata, data: { index: String(index), text: 'ü€😀' } });
      }
    });
    await Promise.all(writers);
  });
  afterAll(async () => {
    await proxy?.close();
    await plane?.stop();
  });

  const touch = (name: string, value: string): Promise<ConfigMap> =>
    kube.patch(
      Kinds.ConfigMap,
      { name, namespace },
      { type: 'apply', body: { metadata: { name, namespace }, data: { value } } },
      { fieldManager: 'test', force: true },
    );
  /** Reads a watch in the background. */
  const follow = (reader: Kube, options: WatchOptions) => {
    const events: WatchEvent<ConfigMap>[] = [];
    const stop = new AbortController();
    const end = (async () => {
      for await (const event of reader.watch(Kinds.ConfigMap, { ...options, signal: stop.signal })) events.push(event);
    })();
    end.catch(() => {});
    return { events, end, stop: () => stop.abort() };
  };
  const values = (events: readonly WatchEvent<ConfigMap>[]): string[] =>
    events.flatMap((event) => (event.type === 'BOOKMARK' ? [] : `${event.type} ${event.object.data?.['value']}`));

  describe('lists', () => {
    it('gives thousands of objects page by page, each exactly once', async () => {
      const names = new Set<string>();
      let pages = 0;
      let token: string | undefined;
      do {
        const page = await kube.list(Kinds.ConfigMap, {
          namespace: 'many',
          limit: 250,
          ...(token === undefined ? {} : { continue: token }),
        });
        for (const item of page.items) names.add(item.metadata.name);
        token = page.metadata.continue;
        pages += 1;
      } while (token !== undefined && token !== '');
      expect(pages).toBe(many / 250);
      expect(names.size).toBe(many);
    });

    it('gives all at once, whole', async () => {
      const list = await kube.list(Kinds.ConfigMap, { namespace: 'many' });
      expect(list.items).toHaveLength(many);
      expect(new Set(list.items.map((item) => item.data?.['text']))).toEqual(new Set(['ü€😀']));
    });

    it('selects by label and by field', async () => {
      const odd = await kube.list(Kinds.ConfigMap, { namespace: 'many', labelSelector: 'odd in (1),!absent' });
      expect(odd.items).toHaveLength(many / 2);
      const one = await kube.list(Kinds.ConfigMap, { fieldSelector: 'metadata.name=item-7' });
      expect(one.items.map((item) => item.metadata.namespace)).toEqual(['many']);
    });

    it('arrives whole over a slow line', async () => {
      const slow = await connect(proxied);
      proxy.delay(40);
      try {
        expect((await slow.list(Kinds.ConfigMap, { namespace: 'many' })).items).toHaveLength(many);
      } finally {
        proxy.heal();
      }
    });

    it('is asked for again when the line breaks, and an error when it stays broken', async () => {
      const unlucky = await connect(proxied);
      await unlucky.list(Kinds.ConfigMap, { namespace: 'many', limit: 1 });
      const before = proxy.accepted();
      proxy.delay(100);
      const list = unlucky.list(Kinds.ConfigMap, { namespace: 'many' });
      const cutting = setTimeout(() => proxy.cut(), 150);
      expect((await list).items).toHaveLength(many);
      clearTimeout(cutting);
      proxy.heal();
      expect(proxy.accepted()).toBeGreaterThan(before);

      const hopeless = await connect(proxied, { maxRetries: 2 });
      proxy.refuse();
      try {
        const error = await failure(hopeless.list(Kinds.ConfigMap, { namespace: 'many' }));
        expect(error).toMatchObject({ code: 0, reason: 'Unreachable' });
      } finally {
        proxy.heal();
      }
    });

    it('times out when nothing comes back, and works again afterwards', async () => {
      const patient = await connect(proxied, { requestTimeout: 500, maxRetries: 1 });
      await patient.list(Kinds.ConfigMap, { namespace, limit: 1 });
      proxy.blackHole();
      expect(await failure(patient.list(Kinds.ConfigMap, { namespace, limit: 1 }))).toMatchObject({ code: 0 });
      proxy.heal();
      await eventually('an answer', () =>
        patient.list(Kinds.ConfigMap, { namespace, limit: 1 }).catch(() => undefined),
      );
    });

    it('rejects with the reason of an abort', async () => {
      const waiting = await connect(proxied);
      proxy.delay(5_000);
      try {
        const stop = new AbortController();
        const list = waiting.list(Kinds.ConfigMap, { namespace, signal: stop.signal });
        const reason = new Error('no longer wanted');
        stop.abort(reason);
        expect(await failure(list)).toBe(reason);
      } finally {
        proxy.heal();
      }
    });
  });

  describe('watches', () => {
    it('streams changes from a resourceVersion on, in order', async () => {
      const { metadata } = await touch('watched', '0');
      const options = {
        namespace,
        fieldSelector: 'metadata.name=watched',
        resourceVersion: metadata.resourceVersion ?? '',
      };
      const watch = follow(kube, options);
      for (const value of ['1', '2', '3']) await touch('watched', value);
      await kube.delete(Kinds.ConfigMap, { name: 'watched', namespace });
      await eventually('four events', () => (watch.events.length >= 4 ? true : undefined));
      expect(values(watch.events)).toEqual(['MODIFIED 1', 'MODIFIED 2', 'MODIFIED 3', 'DELETED 3']);
      watch.stop();
      await expect(watch.end).resolves.toBeUndefined();
    });

    it('streams what exists, then a bookmark that says so', async () => {
      const watch = follow(kube, {
        namespace: 'many',
        sendInitialEvents: true,
        resourceVersionMatch: 'NotOlderThan',
        allowBookmarks: true,
      });
      const bookmark = await eventually('the bookmark', () => watch.events.find((event) => event.type === 'BOOKMARK'));
      expect(watch.events.length).toBe(many + 1);
      expect(bookmark.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
      watch.stop();
      await watch.end;
    });

    it('ends without an error when its time is over', async () => {
      const { metadata } = await kube.list(Kinds.ConfigMap, { namespace, limit: 1 });
      const options = { namespace, timeoutSeconds: 1, resourceVersion: metadata.resourceVersion ?? '' };
      await expect(follow(kube, options).end).resolves.toBeUndefined();
    });

    it('throws when the connection breaks', async () => {
      const { metadata } = await touch('broken', '0');
      const options = {
        namespace,
        fieldSelector: 'metadata.name=broken',
        resourceVersion: metadata.resourceVersion ?? '',
      };
      const watch = follow(await connect(proxied), options);
      await touch('broken', '1');
      await eventually('an event', () => watch.events[0]);
      proxy.cut();
      expect(await failure(watch.end)).toMatchObject({ code: 0, reason: 'Unreachable' });
    });

    it('throws 410 for a version that etcd no longer has', async () => {
      const { metadata } = await touch('ancient', '0');
      await touch('ancient', '1');
      await plane.compactEtcd();
      await plane.restartApiServer();
      const options = { namespace, resourceVersion: metadata.resourceVersion ?? '' };
      const error = await failure(follow(kube, options).end);
      expect(isExpired(error)).toBe(true);
      expect(error).toMatchObject({ code: 410 });
    });

    it('survives more watches than there are connections for requests', async () => {
      const busy = await connect(plane.adminKubeconfig, { connections: 2 });
      const { metadata } = await touch('crowd', '0');
      const options = {
        namespace,
        fieldSelector: 'metadata.name=crowd',
        resourceVersion: metadata.resourceVersion ?? '',
      };
      const watches = Array.from({ length: 20 }, () => follow(busy, options));
      await busy.patch(
        Kinds.ConfigMap,
        { name: 'crowd', namespace },
        { type: 'merge', body: { data: { value: '1' } } },
      );
      for (const watch of watches) {
        await eventually('the event', () => watch.events[0]);
        expect(values(watch.events)).toEqual(['MODIFIED 1']);
        watch.stop();
        await watch.end;
      }
    });
  });
});
