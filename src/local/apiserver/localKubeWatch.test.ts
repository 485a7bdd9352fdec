import { beforeEach, describe, expect, it } from 'vitest';
import { newApi, ref, type ApiCase } from '../../../test/fixtures/local/podsInApi.ts';
import { Kinds, type Pod } from '../../api/kinds.ts';
import type { VirtualClock } from '../../clock/virtualClock.ts';
import type { Kube, WatchEvent } from '../../kube/kube.ts';
import type { LocalApiServer } from './localApiServer.ts';

let clock: VirtualClock;
let server: LocalApiServer;
let kube: Kube;
let newPod: ApiCase['newPod'];

beforeEach(() => {
  ({ clock, server, kube, newPod } = newApi());
});

async function take<T>(events: AsyncIterable<T>, count: number): Promise<T[]> {
  const result: T[] = [];
  for await (const event of events) {
    result.push(event);
    if (result.length === count) break;
  }
  return result;
}

const brief = (event: WatchEvent<Pod>): string =>
  event.type === 'BOOKMARK' ? 'BOOKMARK' : `${event.type} ${event.object.metadata.name}`;

describe('list', () => {
  it('returns pages of one revision by limit and continue', async () => {
    for (const name of ['a', 'b', 'c']) await newPod(name);
    const first = await kube.list(Kinds.Pod, { namespace: 'default', limit: 2 });
    expect(first.metadata.remainingItemCount).toBe(1);
    await kube.delete(Kinds.Pod, ref('c'));
    const token = first.metadata.continue ?? '';
    const second = await kube.list(Kinds.Pod, { namespace: 'default', limit: 2, continue: token });
    expect(second.items.map((pod) => pod.metadata.name)).toEqual(['c']);
    server.compact();
    await newPod('d');
    await expect(kube.list(Kinds.Pod, { limit: 2, continue: token })).rejects.toMatchObject({ code: 410 });
  });

  it('selects by field', async () => {
    await newPod('a');
    await newPod('b');
    await kube.bind(ref('b'), 'n1');
    const found = await kube.list(Kinds.Pod, { fieldSelector: 'spec.nodeName=n1' });
    expect(found.items.map((pod) => pod.metadata.name)).toEqual(['b']);
  });
});

describe('watch', () => {
  it('shows the deletion of an unscheduled pod, also with a selector', async () => {
    const { metadata } = await newPod('a');
    const { resourceVersion = '' } = metadata;
    const seen = take(kube.watch(Kinds.Pod, { fieldSelector: 'metadata.name=a', resourceVersion }), 2);
    await kube.delete(Kinds.Pod, ref('a'));
    const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
    expect(await seen).toMatchObject([
      { type: 'MODIFIED', object: { metadata: deletion } },
      { type: 'DELETED', object: { metadata: deletion } },
    ]);
  });

  it('sends initial events, a bookmark after them, then changes', async () => {
    await newPod('a');
    const events = kube.watch(Kinds.Pod, {
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowBookmarks: true,
    });
    const seen = take(events, 5);
    await newPod('b');
    await kube.delete(Kinds.Pod, ref('a'));
    const got = await seen;
    expect(got.map(brief)).toEqual(['ADDED a', 'BOOKMARK', 'ADDED b', 'MODIFIED a', 'DELETED a']);
    expect(got[1]).toMatchObject({ object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } });
  });

  it('resumes after a resource version; objects that begin or cease to match a selector are ADDED or DELETED', async () => {
    const { metadata } = await kube.list(Kinds.Pod);
    await newPod('a', { labels: { x: '1' } });
    await kube.patch(Kinds.Pod, ref('a'), { type: 'merge', body: { metadata: { labels: { x: '2' } } } });
    await kube.patch(Kinds.Pod, ref('a'), { type: 'merge', body: { metadata: { labels: { x: '1' } } } });
    const options = { resourceVersion: metadata.resourceVersion ?? '', labelSelector: 'x=1' };
    expect((await take(kube.watch(Kinds.Pod, options), 3)).map(brief)).toEqual(['ADDED a', 'DELETED a', 'ADDED a']);
  });

  it('from a compacted resource version fails with 410', async () => {
    await newPod('a');
    server.compact();
    await expect(take(kube.watch(Kinds.Pod, { resourceVersion: '1' }), 1)).rejects.toMatchObject({ code: 410 });
  });

  it('ends at its timeout or when it is aborted', async () => {
    const timed = take(kube.watch(Kinds.Pod, { resourceVersion: '1', timeoutSeconds: 5 }), 1);
    const abort = new AbortController();
    const aborted = take(kube.watch(Kinds.Pod, { resourceVersion: '1', signal: abort.signal }), 1);
    await clock.advance(6000);
    abort.abort();
    expect(await timed).toEqual([]);
    expect(await aborted).toEqual([]);
  });

  it('sends a bookmark each minute if allowed', async () => {
    const { metadata } = await kube.list(Kinds.Pod);
    const events = take(
      kube.watch(Kinds.Pod, { resourceVersion: metadata.resourceVersion ?? '', allowBookmarks: true }),
      1,
    );
    await kube.create(Kinds.ConfigMap, { metadata: ref('c') });
    await clock.advance(60_000);
    const [bookmark] = await events;
    expect(bookmark?.type).toBe('BOOKMARK');
    expect(Number(bookmark?.object.metadata.resourceVersion)).toBeGreaterThan(Number(metadata.resourceVersion));
  });
});

describe('raw', () => {
  it('gets paths that are not of objects', async () => {
    expect(await kube.raw('/readyz')).toBe('ok');
    expect(await kube.raw('/version')).toMatchObject({ major: '1', minor: '36' });
    await expect(kube.raw('/nothing')).rejects.toMatchObject({ code: 404 });
  });
});
