import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { AKS_NODE_CLASS_HASH_VERSION, aksNodeClassHash } from '../../api/aksNodeClassHash.ts';
import { Kinds } from '../../api/kinds.ts';
import { Annotations } from '../../api/labels.ts';
import { nodeClassHashController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world, informers }) => [nodeClassHashController(world, informers.of(Kinds.AKSNodeClass))],
  });
});
afterEach(() => bench.close());

const { aksNodeClassHash: HASH, aksNodeClassHashVersion: VERSION } = Annotations;
const AKS_REF = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'c' };

it('stamps the class, and its claims with an older hash version', async () => {
  await bench.createClaim('mine', { nodeClassRef: AKS_REF }, { annotations: { [HASH]: '1', [VERSION]: 'v0' } });
  await bench.createClaim('other', { nodeClassRef: { ...AKS_REF, name: 'd' } });
  await bench.createClaim('foreign', { nodeClassRef: { ...AKS_REF, kind: 'OtherClass' } });
  await bench.clock.idle();
  const created = await bench.kube.create(Kinds.AKSNodeClass, {
    metadata: { name: 'c' },
    spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 200 },
  });
  await bench.clock.idle();
  const stamp = { [HASH]: aksNodeClassHash(created), [VERSION]: AKS_NODE_CLASS_HASH_VERSION };
  expect((await bench.kube.get(Kinds.AKSNodeClass, { name: 'c' })).metadata.annotations).toEqual(stamp);
  expect((await bench.claim('mine')).metadata.annotations).toEqual(stamp);
  expect((await bench.claim('other')).metadata.annotations).toBeUndefined();
  expect((await bench.claim('foreign')).metadata.annotations).toBeUndefined();
});

it('follows the class, not the claims', async () => {
  await bench.kube.create(Kinds.AKSNodeClass, {
    metadata: { name: 'c' },
    spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 200 },
  });
  await bench.clock.idle();
  const before = (await bench.kube.get(Kinds.AKSNodeClass, { name: 'c' })).metadata.annotations;
  await bench.createClaim('mine', { nodeClassRef: AKS_REF }, { annotations: { ...before } });
  await bench.kube.patch(Kinds.AKSNodeClass, { name: 'c' }, { type: 'merge', body: { spec: { osDiskSizeGB: 300 } } });
  await bench.clock.idle();
  const after = (await bench.kube.get(Kinds.AKSNodeClass, { name: 'c' })).metadata.annotations;
  expect(after?.[HASH]).not.toBe(before?.[HASH]);
  expect((await bench.claim('mine')).metadata.annotations).toEqual(before);
});
