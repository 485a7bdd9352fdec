import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { Finalizers } from '../../api/labels.ts';
import { nodeClassTerminationController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world, informers }) => [nodeClassTerminationController(world, informers.of(Kinds.AKSNodeClass))],
  });
  await bench.kube.create(Kinds.AKSNodeClass, {
    metadata: { name: 'c', finalizers: [Finalizers.nodeClassTermination] },
    spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128 },
  });
});
afterEach(() => bench.close());

const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'c' };

it('removes a class without claims at once', async () => {
  await bench.kube.delete(Kinds.AKSNodeClass, { name: 'c' });
  await bench.clock.idle();
  expect(await bench.find(Kinds.AKSNodeClass, 'c')).toBeUndefined();
});

it('keeps a class until the last of its claims is gone, and names them in an event', async () => {
  for (const name of ['a', 'b']) await bench.createClaim(name, { nodeClassRef });
  await bench.clock.idle();
  await bench.kube.delete(Kinds.AKSNodeClass, { name: 'c' });
  await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
  await bench.advance(3_600_000);
  expect(await bench.find(Kinds.AKSNodeClass, 'c')).toBeDefined();
  const [event] = await bench.events('WaitingOnNodeClaimTermination');
  expect(event).toMatchObject({ type: 'Normal', involvedObject: { kind: 'AKSNodeClass', name: 'c' } });
  await bench.kube.delete(Kinds.NodeClaim, { name: 'b' });
  await bench.clock.idle();
  expect(await bench.find(Kinds.AKSNodeClass, 'c')).toBeUndefined();
});
