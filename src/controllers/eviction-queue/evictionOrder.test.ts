import { expect, it } from 'vitest';
import type { Pod } from '../../api/kinds.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { EvictionOrder, largestFirst } from './evictionOrder.ts';

function pod(name: string, cpu: string, memory: string, priority = 0): Pod {
  const requests = { cpu, memory };
  return {
    metadata: { name, namespace: 'a' },
    spec: { priority, containers: [{ name: 'c', resources: { requests } }] },
  };
}

const names = (pods: readonly Pod[]): readonly string[] => pods.map(({ metadata }) => metadata.name);

it('takes the pods with the largest requests first, and those of high priority before all', () => {
  const small = pod('small', '100m', '128Mi');
  const wide = pod('wide', '3', '256Mi');
  const tall = pod('tall', '100m', '40Gi');
  const important = pod('important', '10m', '16Mi', 1_000);
  expect(names(largestFirst([small, wide, tall, important]))).toEqual(['important', 'tall', 'wide', 'small']);
});

it('waits a moment for pods of other nodes, but never long', async () => {
  const clock = new VirtualClock(0);
  const given: [number, string][] = [];
  const order = new EvictionOrder(clock, (key) => given.push([clock.now(), key]));
  order.add(pod('small', '100m', '1Gi'));
  await clock.advance(200);
  order.add(pod('large', '2', '1Gi'));
  await clock.advance(1_000);
  expect(given).toEqual([
    [500, 'a/large'],
    [500, 'a/small'],
  ]);
  given.length = 0;
  for (let at = 0; at < 12; at++) {
    order.add(pod(`p${at}`, '1', '1Gi'));
    await clock.advance(200);
  }
  expect(given.slice(0, 10).map(([at]) => at - 1_200)).toEqual(Array<number>(10).fill(2_000));
});

it('waits longer for pods that are known to come', async () => {
  const clock = new VirtualClock(0);
  const given: [number, string][] = [];
  let areOthersComing = true;
  const order = new EvictionOrder(
    clock,
    (key) => given.push([clock.now(), key]),
    () => areOthersComing,
  );
  order.add(pod('small', '100m', '1Gi'));
  await clock.advance(3_000);
  expect(given).toEqual([]);
  order.add(pod('large', '2', '1Gi'));
  areOthersComing = false;
  await clock.advance(300);
  expect(given).toEqual([
    [3_300, 'a/large'],
    [3_300, 'a/small'],
  ]);
  given.length = 0;
  areOthersComing = true;
  order.add(pod('late', '1', '1Gi'));
  await clock.advance(10_000);
  expect(given).toEqual([[3_300 + 5_000, 'a/late']]);
});
