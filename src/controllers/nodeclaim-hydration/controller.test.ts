import { afterEach, beforeEach, expect, it } from 'vitest';
import { CLASS_LABEL, Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { nodeClaimHydrationController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({ controllers: ({ world }) => [nodeClaimHydrationController(world)] });
});
afterEach(() => bench.close());

it('gives claims and their nodes the label of their class', async () => {
  await bench.createClaim('a', {}, { labels: { [CLASS_LABEL]: '' } });
  const body = { status: { providerID: 'memory://a' } };
  await bench.kube.patch(Kinds.NodeClaim, { name: 'a' }, { type: 'merge', body }, { subresource: 'status' });
  await bench.kube.create(Kinds.Node, { metadata: { name: 'n' }, spec: { providerID: 'memory://a' } });
  await bench.kube.create(Kinds.Node, { metadata: { name: 'other' }, spec: { providerID: 'memory://b' } });
  await bench.clock.idle();
  expect((await bench.claim('a')).metadata.labels?.[CLASS_LABEL]).toBe('default');
  expect((await bench.kube.get(Kinds.Node, { name: 'n' })).metadata.labels?.[CLASS_LABEL]).toBe('default');
  expect((await bench.kube.get(Kinds.Node, { name: 'other' })).metadata.labels?.[CLASS_LABEL]).toBeUndefined();
});
