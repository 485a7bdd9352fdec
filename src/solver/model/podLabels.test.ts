import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testPod } from '../../../test/fixtures/solver/testObjects.ts';
import type { ExistingNode } from '../problem.ts';
import { ExistingNodes } from './existingNodes.ts';
import { PodLabels } from './podLabels.ts';
import { ResourceTable } from './resourceTable.ts';

const NAMES = ['app', 'constructor'];
const VALUES = ['a', 'b', 'c'];

const node = (name: string, labels: readonly Record<string, string>[]): ExistingNode => ({
  name,
  labels: {},
  taints: [],
  free: {},
  initialized: true,
  pods: labels.map((own, at) => testPod(`${name}-${at}`, '1', '1Gi', {}, { labels: own })),
});

const anyLabels = fc.dictionary(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES), { maxKeys: 2 });
/** For each of a few places: no node, or one with these pods. */
const anyCluster = fc.array(fc.option(fc.array(anyLabels, { maxLength: 4 }), { nil: undefined }), { maxLength: 5 });

describe('running pods by label', () => {
  it('equal those found by a search through all nodes, after any changes', () => {
    fc.assert(
      fc.property(fc.array(anyCluster, { minLength: 1, maxLength: 5 }), (clusters) => {
        const existing = ExistingNodes.of([], ResourceTable.of([]));
        const labels = new PodLabels(existing);
        for (const places of clusters) {
          const nodes = places.flatMap((pods, at) => (pods === undefined ? [] : [node(`n${at}`, pods)]));
          existing.update(nodes);
          for (const name of NAMES) {
            for (const value of VALUES) {
              const found = [...labels.podsWith(name, value)].map(([row, pods]) => [existing.nodes[row]?.name, pods]);
              const expected = nodes.flatMap((each) => {
                const own = each.pods.filter(({ metadata }) =>
                  Object.entries(metadata.labels ?? {}).some(([key, has]) => key === name && has === value),
                );
                return own.length === 0 ? [] : [[each.name, own]];
              });
              expect(new Map(found as never)).toEqual(new Map(expected as never));
            }
          }
        }
      }),
    );
  });
});
