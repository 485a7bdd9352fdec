import { describe, expect, it } from 'vitest';
import { Labels } from '../../api/labels.ts';
import type { ExistingNode } from '../problem.ts';
import { DomainTable } from './domainTable.ts';
import { ExistingNodes } from './existingNodes.ts';
import { HostCounts, UNLIMITED } from './hostCounts.ts';
import { ResourceTable } from './resourceTable.ts';
import { Tally } from './tally.ts';
import { counterSpec } from './topologyCounter.ts';

const node = (name: string, zone: string | undefined): ExistingNode => ({
  name,
  labels: zone === undefined ? {} : { [Labels.zone]: zone },
  taints: [],
  free: {},
  pods: [],
  initialized: true,
});

const counted = new Map<string, number>();

function tallyOf(key: string, existing: ExistingNodes): Tally {
  const table = DomainTable.of(key, existing, new Set(['z1', 'z2']));
  const countOn = (row: number): number => counted.get(existing.nodes[row]?.name ?? '') ?? 0;
  const counts = Array.from(existing.order, (row) => [row, countOn(row)] as const);
  return Tally.of(counterSpec('match', key, []), table, existing, counts, countOn);
}

describe('a tally', () => {
  it('counts by node and by domain, and is updated when nodes change', () => {
    counted.clear();
    counted.set('a', 2).set('b', 3).set('c', 5);
    const existing = ExistingNodes.of([node('a', 'z1'), node('b', 'z2'), node('c', undefined)], ResourceTable.of([]));
    const tally = tallyOf(Labels.zone, existing);
    expect([tally.byDomain, tally.total]).toEqual([[2, 3], 5]);
    counted.set('a', 1);
    existing.update([node('a', 'z2'), node('c', undefined)]);
    expect(tally.table.catchUp() && tally.catchUp()).toBe(true);
    expect([tally.byDomain, tally.total]).toEqual([[0, 1], 1]);
    expect(existing.order.length).toBe(2);
    expect(Array.from(existing.order, (row) => tally.on(row))).toEqual([1, 5]);
  });
});

describe('counts on hosts', () => {
  it('keep the running pods of closed nodes, whatever a plan adds elsewhere', () => {
    counted.clear();
    counted.set('a', 2);
    const existing = ExistingNodes.of([node('a', 'z1'), node('b', 'z1')], ResourceTable.of([]));
    const [a = -1, b = -1] = existing.order;
    const hosts = new HostCounts();
    hosts.seed(tallyOf(Labels.hostname, existing));
    hosts.close(new Set([a]));
    expect([hosts.limit(a), hosts.limit(b)]).toEqual([2, UNLIMITED]);
    hosts.add(b, 1);
    hosts.limitTo(b, 3);
    hosts.limitTo(a, 7);
    expect([hosts.on(a), hosts.on(b), hosts.limit(a), hosts.limit(b)]).toEqual([2, 1, 2, 3]);
  });
});
