import { describe, expect, it } from 'vitest';
import { apartPods, packingDemand, plainPods } from '../../../test/fixtures/solver/packingDemand.ts';
import { testPod, testType } from '../../../test/fixtures/solver/testObjects.ts';
import { Labels } from '../../api/labels.ts';
import type { Demand } from './demand.ts';
import { HostTally } from './hostTally.ts';

const TYPES = [testType('a8', 8, 32, 0.39)];

const itemOf = ({ items }: Demand, name: string): number =>
  items.findIndex(({ podClass }) => podClass.pods.some(({ metadata }) => metadata.name.startsWith(name)));

describe('limits per node', () => {
  it('force as many nodes as there are pods that must run apart, whatever else there is', () => {
    const pods = [...apartPods('many', 5, '100m', '64Mi'), ...apartPods('few', 2, '200m', '64Mi')];
    const demand = packingDemand([...pods, ...plainPods('plain', 9, '300m', '64Mi')], TYPES);
    expect(demand.host.nodesForced).toBe(5);
    expect(['many', 'few', 'plain'].map((name) => demand.host.share[itemOf(demand, name)])).toEqual([1, 0, 0]);
    expect(['many', 'few', 'plain'].map((name) => demand.host.plain[itemOf(demand, name)])).toEqual([0, 0, 1]);
  });

  it('allow as many pods per node as their spread permits', () => {
    const spread = {
      maxSkew: 2,
      topologyKey: Labels.hostname,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
    };
    const pods = Array.from({ length: 6 }, (_, at) =>
      testPod(`web-${at}`, '1', '1Gi', { topologySpreadConstraints: [spread] }, { labels: { app: 'web' } }),
    );
    const { host } = packingDemand(pods, TYPES);
    expect([host.nodesForced, host.share[0]]).toEqual([3, 0.5]);
  });

  it('allow on a node only as many as every pod on it permits, until it is cleared', () => {
    const pods = [...apartPods('web', 3, '1', '1Gi'), testPod('other', '2', '1Gi', {}, { labels: { app: 'web' } })];
    const { items, host, ...demand } = packingDemand(pods, TYPES);
    const apart = itemOf({ items, host, ...demand }, 'web');
    const other = itemOf({ items, host, ...demand }, 'other');
    const tally = new HostTally(items, host);
    expect([tally.allowed(apart), tally.allowed(other)]).toEqual([1, 0x3fffffff]);
    tally.add(apart, 1);
    expect([tally.allowed(apart), tally.allowed(other)]).toEqual([0, 0]);
    tally.clear();
    tally.add(other, 1);
    expect([tally.allowed(apart), tally.allowed(other) > 0]).toEqual([0, true]);
  });
});
