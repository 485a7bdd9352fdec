import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { networkInterfaceGarbageCollectionController } from './controller.ts';

const MINUTE = 60_000;
let bench: Workbench;
/** Leftover interfaces, by the name of their claim. */
let interfaces: Set<string>;
let outage: Error | undefined;

beforeEach(async () => {
  interfaces = new Set(['kept', 'stray']);
  outage = undefined;
  bench = await Workbench.start({
    controllers: ({ world }) => [
      networkInterfaceGarbageCollectionController(world, {
        remove: async (claimNames) => {
          if (outage) throw outage;
          const used = new Set(claimNames());
          const removed = [...interfaces].filter((name) => !used.has(name));
          for (const name of removed) interfaces.delete(name);
          return removed;
        },
      }),
    ],
  });
});
afterEach(() => bench.close());

it('removes interfaces without a claim, every five minutes', async () => {
  await bench.createClaim('kept');
  interfaces.add('kept');
  await bench.advance(5 * MINUTE);
  expect([...interfaces]).toEqual(['kept']);
  await bench.kube.delete(Kinds.NodeClaim, { name: 'kept' });
  interfaces.add('late');
  await bench.advance(4 * MINUTE);
  expect([...interfaces]).toEqual(['kept', 'late']);
  await bench.advance(MINUTE);
  expect([...interfaces]).toEqual([]);
});

it('retries when Azure does not answer', async () => {
  await bench.advance(1_000);
  outage = new Error('throttled');
  interfaces.add('stray');
  await bench.advance(6 * MINUTE);
  expect([...interfaces]).toEqual(['stray']);
  outage = undefined;
  await bench.advance(5 * MINUTE);
  expect([...interfaces]).toEqual([]);
});
