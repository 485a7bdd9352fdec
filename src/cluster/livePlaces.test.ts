import { beforeEach, describe, expect, it } from 'vitest';
import type { Node, Pod } from '../api/kinds.ts';
import { Cluster } from './cluster.ts';

const NOW = 1_000;

const node = (name: string, zone: string): Node => ({
  metadata: { name, labels: { zone } },
  spec: { providerID: name },
  status: { capacity: { cpu: '4', pods: '10' }, allocatable: { cpu: '4', pods: '10' } },
});

function pod(name: string, isSpread: boolean): Pod {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'web', controller: true };
  const constraint = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };
  return {
    metadata: { name, namespace: 'default', uid: name, ownerReferences: [owner] },
    spec: { containers: [{ name: 'main' }], ...(isSpread && { topologySpreadConstraints: [constraint] }) },
  };
}

describe('pods of one kind', () => {
  let cluster: Cluster;
  const plan = (isSpread: boolean): void => {
    for (const [name, zone] of Object.entries({ a1: 'a', a2: 'a', b1: 'b', b2: 'b' }))
      cluster.setNode(node(name, zone));
    for (const target of ['a1', 'b1', 'b2']) {
      const pods = [pod(`on-${target}`, isSpread)];
      for (const each of pods) cluster.setPod(each);
      cluster.places.hold('plan', [{ target, pods }], 60_000);
    }
  };
  const bind = (name: string, nodeName: string): void => {
    const { spec, ...rest } = cluster.pod({ name, namespace: 'default' }) as Pod;
    cluster.setPod({ ...rest, spec: { containers: [], ...spec, nodeName } });
  };
  const placeOf = (name: string): string | undefined => {
    const place = cluster.places.of(pod(name, true), NOW);
    return place && cluster.places.viewOf(place)?.name;
  };

  beforeEach(() => {
    cluster = new Cluster();
  });

  it('that must spread get the place of one that went to their domain', () => {
    plan(true);
    bind('on-b1', 'a2');
    expect([placeOf('on-a1'), placeOf('on-b2')]).toEqual(['b1', 'b2']);
  });

  it('keep their places when one of them goes to another node of its own domain', () => {
    plan(true);
    bind('on-a1', 'a2');
    expect([placeOf('on-b1'), placeOf('on-b2')]).toEqual(['b1', 'b2']);
  });

  it('keep their places when they need not spread', () => {
    plan(false);
    bind('on-b1', 'a2');
    expect([placeOf('on-a1'), placeOf('on-b2')]).toEqual(['a1', 'b2']);
  });

  it('are ordered as the scheduler will try them: by priority, then the longest untried, then by arrival', () => {
    cluster.setNode(node('a1', 'a'));
    const pods = ['first', 'second', 'third', 'urgent'].map((name): Pod => {
      const { spec, ...rest } = pod(name, true);
      return { ...rest, spec: { containers: [], ...spec, priority: name === 'urgent' ? 10 : 0 } };
    });
    for (const each of pods) cluster.setPod(each);
    cluster.places.hold('plan', [{ target: 'a1', pods: pods.toReversed() }], 60_000);
    const inTurn = (tried: Record<string, number>): readonly string[] =>
      cluster.places.turns
        .inTurn(['a1'], ({ metadata }) => tried[metadata.name] ?? 0)
        .map(({ place }) => place.pod.metadata.name);
    expect(inTurn({})).toEqual(['urgent', 'first', 'second', 'third']);
    expect(inTurn({ first: 30, third: 20, urgent: 40 })).toEqual(['urgent', 'second', 'third', 'first']);
    bind('second', 'a1');
    expect(inTurn({})).toEqual(['urgent', 'first', 'third']);
  });

  it('are awaited as long as one of them has a place and no node', () => {
    plan(false);
    const areOthersComing = (...uids: string[]): boolean => cluster.places.areOthersComing(new Set(uids), NOW);
    expect(areOthersComing('on-a1', 'on-b1')).toBe(true);
    expect(areOthersComing('on-a1', 'on-b1', 'on-b2')).toBe(false);
    bind('on-b2', 'b2');
    expect(areOthersComing('on-a1', 'on-b1')).toBe(false);
  });

  it('open their nodes in the order in which the scheduler will try them from now on', () => {
    const names = ['first', 'second', 'third'];
    for (const name of names) {
      cluster.setNode(node(`of-${name}`, 'a'));
      cluster.setPod(pod(name, false));
      cluster.places.hold('plan', [{ target: `of-${name}`, pods: [pod(name, false)] }], 60_000);
    }
    const claims = names.map((name) => `of-${name}`);
    const order = (tried: Record<string, number>): readonly string[] =>
      cluster.places.turns.inOrder(claims, ({ metadata }) => tried[metadata.name] ?? 0).flat();
    expect(order({})).toEqual(['of-first', 'of-second', 'of-third']);
    expect(order({ first: 30, second: 20 })).toEqual(['of-third', 'of-second', 'of-first']);
  });

  it('that already have hints keep their nodes when more nodes join, unless they must spread', () => {
    for (const isSpread of [false, true]) {
      cluster = new Cluster();
      plan(isSpread);
      // The scheduler tries them in this order.
      const turn = new Map(['on-b1', 'on-b2', 'on-a1'].map((name, at) => [name, at]));
      cluster.places.turns.arrange(
        ['a1', 'b1', 'b2'],
        new Set(['b1', 'b2']),
        ({ metadata }) => turn.get(metadata.name) ?? 9,
      );
      const zones = ['on-b1', 'on-b2', 'on-a1'].map((name) => placeOf(name)?.slice(0, 1));
      expect(zones).toEqual(isSpread ? ['a', 'b', 'b'] : ['b', 'b', 'a']);
    }
  });

  it('order their nodes by the highest priority of the pods that wait for them', () => {
    const priorities = { a1: 0, a2: 5, b1: 5, b2: undefined };
    for (const [target, priority] of Object.entries(priorities)) {
      cluster.setNode(node(target, target.slice(0, 1)));
      if (priority === undefined) continue;
      const { spec, ...rest } = pod(`on-${target}`, false);
      const own = { ...rest, spec: { containers: [], ...spec, priority } };
      cluster.setPod(own);
      cluster.places.hold('plan', [{ target, pods: [own] }], 60_000);
    }
    const waves = cluster.places.turns.inOrder(Object.keys(priorities), () => 0);
    expect(waves.map((wave) => wave.toSorted())).toEqual([['a2', 'b1'], ['a1'], ['b2']]);
  });
});

it('stop being awaited soon after they are gone without successors', () => {
  const cluster = new Cluster();
  for (const name of ['a', 'b']) cluster.setNode(node(name, 'z'));
  const moving = pod('moving', false);
  const bound = { ...moving, spec: { containers: [{ name: 'main' }], nodeName: 'a' } };
  cluster.setPod(bound);
  cluster.places.hold('plan', [{ target: 'b', pods: [moving] }], 120_000);
  cluster.setPod({ ...bound, metadata: { ...bound.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
  expect(cluster.isNominated('b', NOW)).toBe(true);
  cluster.removePod(bound);
  expect(cluster.isNominated('b', 10_000)).toBe(true);
  expect(cluster.isNominated('b', 19_000)).toBe(false);
  cluster.setPod(pod('late', false));
  expect(cluster.isNominated('b', 19_000)).toBe(true);
});
