import { expect, it, onTestFinished } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';
import type { Kube } from '../../src/kube/kube.ts';
import { interceptedKube } from '../fixtures/engine/interceptedKube.ts';
import { Workbench } from '../fixtures/engine/workbench.ts';

it('stops only when the events that wait are written', async () => {
  const order: string[] = [];
  const slow = (kube: Kube): Kube =>
    interceptedKube(kube, {
      create: async (kind, draft, options) => {
        if (kind.kind !== Kinds.Event.kind) return kube.create(kind, draft, options);
        order.push('begun');
        await bench.clock.sleep(1_000);
        const made = await kube.create(kind, draft, options);
        order.push('written');
        return made;
      },
    });
  const bench: Workbench = await Workbench.start({
    engine: (ports) => createEngine({ ...ports, batchIdle: 1_000, batchMax: 10_000 }),
    decorate: slow,
  });
  onTestFinished(() => bench.close());
  // No NodePool is there: an event says so.
  await bench.createPod('p');
  await bench.clock.runUntil(() => order.length > 0);
  await bench.stopEngine();
  expect(order).toEqual(['begun', 'written']);
});
