import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Labels } from '../../api/labels.ts';
import type { ExistingNode } from '../problem.ts';
import { DomainTable, NO_DOMAIN } from './domainTable.ts';
import { ExistingNodes } from './existingNodes.ts';
import { ResourceTable } from './resourceTable.ts';

const OFFERED = new Set(['z1', 'z2']);

const node = (name: string, zone: string | undefined): ExistingNode => ({
  name,
  labels: zone === undefined ? {} : { [Labels.zone]: zone },
  taints: [],
  free: {},
  pods: [],
  initialized: true,
});

/** By name: an offered zone, a zone that only nodes have, or none. */
const cluster = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  fc.constantFrom('z1', 'z2', 'old', 'older', undefined),
);

const nodesOf = (zones: Record<string, string | undefined>): ExistingNode[] =>
  Object.entries(zones).map(([name, zone]) => node(name, zone));

const zonesOf = ({ values, domainOf }: DomainTable, { indexOf }: ExistingNodes): Record<string, string | undefined> =>
  Object.fromEntries([...indexOf].map(([name, row]) => [name, values[domainOf[row] ?? NO_DOMAIN]]));

describe('the domains of a key', () => {
  it('are those of nodes and offerings, and are updated with the nodes or reported for renumbering', () => {
    fc.assert(
      fc.property(cluster, cluster, (before, after) => {
        const existing = ExistingNodes.of(nodesOf(before), ResourceTable.of([]));
        const table = DomainTable.of(Labels.zone, existing, OFFERED);
        expect(zonesOf(table, existing)).toEqual(before);
        expect(new Set(table.values)).toEqual(
          new Set([...OFFERED, ...Object.values(before).filter((each) => each !== undefined)]),
        );
        existing.update(nodesOf(after));
        const isKept = table.catchUp();
        const fresh = DomainTable.of(Labels.zone, existing, OFFERED);
        expect(isKept).toBe(String(table.values) === String(fresh.values));
        if (!isKept) return;
        expect(zonesOf(table, existing)).toEqual(after);
        expect(table.nodesIn).toEqual(fresh.nodesIn);
      }),
    );
  });

  it('are none for hostnames: every node is a domain of its own', () => {
    const existing = ExistingNodes.of([node('a', 'z1')], ResourceTable.of([]));
    const table = DomainTable.of(Labels.hostname, existing, new Set(['a']));
    existing.update([node('a', 'z1'), node('b', 'z1')]);
    expect(table.catchUp()).toBe(true);
    expect(table.values).toEqual([]);
    expect(zonesOf(table, existing)).toEqual({ a: undefined, b: undefined });
  });
});
