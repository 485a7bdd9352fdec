import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../../src/api/kinds.ts';
import type { ConfigMap } from '../../../src/api/kinds.ts';
import { systemRandom } from '../../../src/clock/systemRandom.ts';
import { isExpired } from '../../../src/kube/errors.ts';
import { Informers } from '../../../src/kube/informer.ts';
import type { Informer, InformerEvent } from '../../../src/kube/informer.ts';
import type { Kube } from '../../../src/kube/kube.ts';
import { keyOf } from '../../../src/kube/store.ts';
import { startControlPlane } from '../../controlplane/controlPlane.ts';
import type { ControlPlane } from '../../controlplane/controlPlane.ts';
import { eventually } from '../../controlplane/eventually.ts';
import { startTroubledProxy } from '../../controlplane/troubledProxy.ts';
import type { TroubledProxy } from '../../controlplane/troubledProxy.ts';
import { connections } from './connect.ts';
import { FastClock } from './fastClock.ts';

const many = 2_500;

interface Following {
  readonly informer: Informer<ConfigMap>;
  readonly events: InformerEvent<ConfigMap>[];
  readonly errors: unknown[];
  /** `type name value` of every event, in order. */
  log(): string[];
}

describe.each(['paged', 'streaming'] as const)('informers on a real API server, with %s lists', (listing) => {
  const connect = connections();
  let plane: ControlPlane;
  let kube: Kube;
  let proxy: TroubledProxy;
  let proxied: string;
  let namespace: string;
  let namespaces = 0;
  let stop: AbortController;
  const running: Promise<void>[] = [];

  beforeAll(async () => {
    plane = await startControlPlane();
    kube = await connect(plane.adminKubeconfig);
    proxy = await startTroubledProxy(plane.server);
    proxied = await plane.kubeconfigFor('far-away', ['system:masters'], proxy.url);
  });
  afterAll(async () => {
    await proxy?.close();
    await plane?.stop();
  });
  beforeEach(async () => {
    stop = new AbortController();
    namespaces += 1;
    namespace = `space-${namespaces}`;
    await kube.create(Kinds.Namespace, { metadata: { name: namespace } });
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(running.splice(0));
    proxy.heal();
  });

  const write = (name: string, value: string): Promise<ConfigMap> =>
    kube.patch(
      Kinds.ConfigMap,
      { name, namespace },
      { type: 'apply', body: { metadata: { name, namespace }, data: { value } } },
      { fieldManager: 'test', force: true },
    );
  const remove = (name: string): Promise<unknown> => kube.delete(Kinds.ConfigMap, { name, namespace });
  const follow = async (kubeconfig: string, watchSeconds = 300): Promise<Following> => {
    // Ten times as fast as the world, so that pauses and silences do not take minutes.
    const clock = new FastClock(10);
    const errors: unknown[] = [];
    const informers = new Informers({
      kube: await connect(kubeconfig, { clock, requestTimeout: 60_000 }),
      clock,
      random: systemRandom,
      pageSize: 200,
      listing,
      watchSeconds,
      onError: (error) => errors.push(error),
    });
    const informer = informers.of(Kinds.ConfigMap, { namespace });
    const events: InformerEvent<ConfigMap>[] = [];
    informer.subscribe((event) => events.push(event));
    running.push(informers.run(stop.signal));
    await informer.synced(AbortSignal.timeout(60_000));
    const line = ({ type, object }: InformerEvent<ConfigMap>): string =>
      `${type} ${object.metadata.name} ${object.data?.['value']}`;
    return { informer, events, errors, log: () => events.map(line) };
  };
  const versions = (objects: Iterable<ConfigMap>): Map<string, string | undefined> =>
    new Map([...objects].map((object) => [keyOf(object), object.metadata.resourceVersion] as const));
  /** Waits until the store holds exactly what the server holds. */
  const untilSame = ({ informer }: Following): Promise<boolean> =>
    eventually('the store equals the server', async () => {
      const { items } = await kube.list(Kinds.ConfigMap, { namespace });
      const [here, there] = [versions(informer.store.list()), versions(items)];
      const same = here.size === there.size && [...there].every(([key, version]) => here.get(key) === version);
      return same ? true : undefined;
    });
  const watchFrom = async (resourceVersion: string): Promise<void> => {
    for await (const event of kube.watch(Kinds.ConfigMap, { namespace, resourceVersion, timeoutSeconds: 1 })) {
      expect(event).toBeDefined();
    }
  };
  const fill = async (count: number): Promise<void> => {
    const indexes = Array.from({ length: count }, (_, index) => index);
    const writers = Array.from({ length: 16 }, async () => {
      for (let index = indexes.pop(); index !== undefined; index = indexes.pop()) {
        await kube.create(Kinds.ConfigMap, { metadata: { name: `item-${index}`, namespace } });
      }
    });
    await Promise.all(writers);
  };

  it('hold thousands of objects, each announced once and trimmed', async () => {
    await fill(many);
    const following = await follow(plane.adminKubeconfig);
    expect(following.informer.store.size).toBe(many);
    expect(new Set(following.log()).size).toBe(many);
    expect(following.events).toHaveLength(many);
    const [first] = following.informer.store.list();
    expect(first).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(first?.metadata.managedFields).toBeUndefined();
    await untilSame(following);
    expect(following.errors).toEqual([]);
  });

  it('hear every change in order', async () => {
    const following = await follow(plane.adminKubeconfig);
    for (const value of ['1', '2', '3']) await write('changing', value);
    await remove('changing');
    await write('changing', '4');
    await eventually('all five', () => (following.events.length >= 5 ? true : undefined));
    expect(following.log()).toEqual([
      'added changing 1',
      'updated changing 2',
      'updated changing 3',
      'deleted changing 3',
      'added changing 4',
    ]);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('go on after the API server was restarted by %s', async (signal) => {
    await write('steady', '1');
    await write('changing', '1');
    const following = await follow(plane.adminKubeconfig);
    await plane.restartApiServer(signal);
    await write('changing', '2');
    await write('new', '1');
    await eventually('the new object', () => following.informer.store.get({ name: 'new', namespace }));
    await untilSame(following);
    // What did not change is not announced again.
    expect(following.log().filter((line) => line.includes('steady'))).toEqual(['added steady 1']);
    expect(following.log().filter((line) => line.includes('changing'))).toEqual([
      'added changing 1',
      'updated changing 2',
    ]);
  });

  it('list anew when etcd has forgotten where they were, and tell only what differs', async () => {
    for (const name of ['steady', 'changing', 'removed', 'reborn']) await write(name, '1');
    const following = await follow(proxied);
    const initial = following.events.length;
    const seen = following.events.map((event) => Number(event.object.metadata.resourceVersion));
    const lastSeen = String(Math.max(...seen));
    proxy.refuse();
    await write('changing', '2');
    await remove('removed');
    await remove('reborn');
    await write('reborn', '2');
    await write('new', '1');
    await plane.compactEtcd();
    await plane.restartApiServer();
    await expect(watchFrom(lastSeen)).rejects.toSatisfy(isExpired);
    proxy.heal();
    await eventually('the new object', () => following.informer.store.get({ name: 'new', namespace }));
    await untilSame(following);
    expect(following.log().slice(initial).sort()).toEqual(
      ['added new 1', 'added reborn 2', 'deleted removed 1', 'deleted reborn 1', 'updated changing 2'].sort(),
    );
    expect(following.errors.filter(isExpired)).toEqual([]);
  });

  it('lose nothing while connections break again and again', async () => {
    await fill(600);
    const following = await follow(proxied);
    let writing = true;
    const cutting = (async () => {
      for (let round = 0; writing; round += 1) {
        if (round % 3 === 0) proxy.delay(20);
        else if (round % 3 === 1) proxy.delay(0);
        proxy.cut();
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
    })();
    for (let round = 0; round < 200; round += 1) {
      await write(`item-${round}`, String(round));
      if (round % 5 === 0) await remove(`item-${round}`);
      if (round % 10 === 0) await write(`item-${round}`, 'again');
    }
    writing = false;
    await cutting;
    proxy.heal();
    await untilSame(following);
    expect(following.errors.length).toBeGreaterThan(0);
    // Replaying the events gives the store: subscribers saw no more and no less than readers.
    const replayed = new Map<string, ConfigMap>();
    const surprises = following.events.filter(({ type, object }) => {
      const known = replayed.has(keyOf(object));
      if (type === 'deleted') replayed.delete(keyOf(object));
      else replayed.set(keyOf(object), object);
      return known !== (type !== 'added');
    });
    expect(surprises).toEqual([]);
    expect(versions(replayed.values())).toEqual(versions(following.informer.store.list()));
  });

  it('notice a silent connection and connect again', async () => {
    await write('changing', '1');
    const following = await follow(proxied, 2);
    const hears = (value: string): Promise<boolean> =>
      eventually(`the change to ${value}`, () => (following.log().at(-1)?.endsWith(value) === true ? true : undefined));
    await write('changing', '2');
    await hears('2');
    proxy.blackHole();
    await write('changing', '3');
    proxy.heal();
    // The old connection stays open and silent for ever; only a new one can bring this.
    await hears('3');
    await untilSame(following);
    expect(following.log()).toEqual(['added changing 1', 'updated changing 2', 'updated changing 3']);
  });

  it('never give up when they are forbidden to look', async () => {
    await write('secret', '1');
    await plane.kubectl(['create', 'clusterrole', `look-${listing}`, '--verb=list,watch', '--resource=configmaps']);
    const kubeconfig = await plane.kubeconfigFor(`looker-${listing}`);
    const errors: unknown[] = [];
    const clock = new FastClock(10);
    const informers = new Informers({
      kube: await connect(kubeconfig, { clock }),
      clock,
      random: systemRandom,
      listing,
      onError: (error) => errors.push(error),
    });
    const informer = informers.of(Kinds.ConfigMap, { namespace });
    running.push(informers.run(stop.signal));
    await eventually('three refusals', () => (errors.length >= 3 ? true : undefined));
    expect(errors[0]).toMatchObject({ code: 403 });
    expect(informer.hasSynced).toBe(false);
    const binding = ['create', 'clusterrolebinding', `look-${listing}`, `--clusterrole=look-${listing}`];
    await plane.kubectl([...binding, `--user=looker-${listing}`]);
    await informer.synced(AbortSignal.timeout(60_000));
    expect(informer.store.get({ name: 'secret', namespace })?.data).toEqual({ value: '1' });
  });
});
