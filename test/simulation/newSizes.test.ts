/** Covers the suite `newskus` of Azure's own provider: newly offered sizes are bought. */
import { expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { CORES, only, ProviderStories } from '../fixtures/engine/providerStory.ts';
import { VirtualAks } from '../fixtures/engine/virtualAks.ts';

/** One of each kind: AMD, arm64 with a local disk, and compute without one. */
const SIZES = ['Standard_D4as_v6', 'Standard_E4pds_v6', 'Standard_F4als_v6'];
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

it('newskus: sizes that Azure begins to sell are offered after the next refresh, and bought', async () => {
  const sell: (() => void)[] = [];
  const aks = await VirtualAks.start({
    seed: 'new sizes',
    profile: 'calm',
    azure: async ({ world }) => {
      sell.push(...SIZES.map((size) => world.arm.restrict({ size })));
      return {};
    },
  });
  try {
    const stories = new ProviderStories(aks);
    const storyOf = (size: string): string => size.toLowerCase().replaceAll('_', '-');
    for (const size of SIZES) {
      await stories.pool(storyOf(size), [
        only(Labels.instanceType, size),
        only(Labels.capacityType, 'on-demand'),
        { key: Labels.skuFamily, operator: 'Exists' },
      ]);
      await stories.pod(storyOf(size), `${storyOf(size)}-early`, CORES);
    }
    await aks.advance(MINUTE * 5);
    for (const size of SIZES) {
      const name = `${storyOf(size)}-early`;
      expect((await stories.phaseOf(name)).phase).toBe('Pending');
      await aks.kube.delete(Kinds.Pod, { namespace: 'default', name });
    }
    for (const begin of sell) begin();
    // What is sold is asked for every twelve hours.
    await aks.advance(13 * HOUR);
    for (const size of SIZES) await stories.pod(storyOf(size), storyOf(size), CORES);
    for (const size of SIZES) {
      const { vm, labels } = await stories.whereRuns(storyOf(size));
      expect(vm.size).toBe(size);
      expect(labels[Labels.skuName]).toBe(size);
      expect(await stories.nodesOf(storyOf(size))).toHaveLength(1);
    }
  } finally {
    await aks.stop();
  }
}, 300_000);
