import { afterEach, beforeEach, expect, it } from 'vitest';
import { poolSpec, Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { Annotations, Labels } from '../../api/labels.ts';
import { nodeClaimExpirationController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({ controllers: ({ world }) => [nodeClaimExpirationController(world)] });
});
afterEach(() => bench.close());

const HOUR = 3_600_000;
const left = async (): Promise<string[]> => (await bench.claims()).map(({ metadata }) => metadata.name);

it('deletes a claim at its expireAfter, but none with Never and none of other providers', async () => {
  await bench.createClaim('short', { expireAfter: '1h' });
  await bench.createClaim('long', { expireAfter: '24h', terminationGracePeriod: '0s' });
  await bench.createClaim('endless', { expireAfter: 'Never' });
  await bench.createClaim('foreign', { expireAfter: '1h', nodeClassRef: { group: 'other.io', kind: 'X', name: 'x' } });
  await bench.advance(HOUR - 1);
  expect(await left()).toHaveLength(4);
  await bench.advance(1);
  expect(await left()).toEqual(['endless', 'foreign', 'long']);
  await bench.advance(23 * HOUR);
  expect(await left()).toEqual(['endless', 'foreign']);
  const count = (mode: string) =>
    bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'expired', termination_mode: mode });
  expect([count('graceful'), count('forceful')]).toEqual([1, 1]);
  expect(bench.decisions('removal')).toEqual([
    'NodeClaim short is removed: it has reached its expireAfter',
    'NodeClaim long is removed: it has reached its expireAfter',
  ]);
});

it('counts from the creation of the claim, not from the start of the process', async () => {
  await bench.createClaim('short', { expireAfter: '1h' });
  await bench.advance(HOUR / 2);
  await bench.stopEngine();
  await bench.advance(HOUR);
  bench.startEngine();
  await bench.clock.idle();
  expect(await left()).toEqual([]);
});

it('leaves claims with forceful expiration off to the loop that respects budgets', async () => {
  const annotations = { [Annotations.forcefulExpiration]: 'false' };
  await bench.kube.create(Kinds.NodePool, { metadata: { name: 'default', annotations }, spec: poolSpec() });
  await bench.createClaim('of-the-pool', { expireAfter: '1h' });
  await bench.createClaim(
    'own-word',
    { expireAfter: '1h' },
    { annotations: { [Annotations.forcefulExpiration]: 'true' } },
  );
  await bench.createClaim('other-pool', { expireAfter: '1h' }, { labels: { [Labels.nodePool]: 'other' }, annotations });
  await bench.advance(2 * HOUR);
  expect(await left()).toEqual(['of-the-pool', 'other-pool']);
});
