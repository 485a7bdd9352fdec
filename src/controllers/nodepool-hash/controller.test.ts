import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/object.ts';
import { Annotations } from '../../api/labels.ts';
import { NODE_POOL_HASH_VERSION, nodePoolHash } from '../../api/nodePoolHash.ts';
import { nodePoolHashController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({ controllers: ({ world }) => [nodePoolHashController(world)] });
});
afterEach(() => bench.close());

const { nodePoolHash: HASH, nodePoolHashVersion: VERSION } = Annotations;
const stamps = async (kind: 'NodePool' | 'NodeClaim', name: string) => {
  const { metadata } = await bench.kube.get<KubeObject>(Kinds[kind], { name });
  return [metadata.annotations?.[HASH], metadata.annotations?.[VERSION]];
};

it('stamps the pool, again when its template changes, and leaves its claims as they are', async () => {
  const pool = await bench.createPool();
  await bench.createClaim('a', {}, { annotations: { [HASH]: 'old', [VERSION]: NODE_POOL_HASH_VERSION } });
  await bench.clock.idle();
  expect(await stamps('NodePool', 'default')).toEqual([nodePoolHash(pool), NODE_POOL_HASH_VERSION]);
  const body = { spec: { template: { metadata: { labels: { team: 'blue' } } } } };
  const changed = await bench.kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body });
  await bench.clock.idle();
  expect(await stamps('NodePool', 'default')).toEqual([nodePoolHash(changed), NODE_POOL_HASH_VERSION]);
  expect(nodePoolHash(changed)).not.toBe(nodePoolHash(pool));
  expect(await stamps('NodeClaim', 'a')).toEqual(['old', NODE_POOL_HASH_VERSION]);
});

it('re-stamps claims when the hash version has changed, except drifted ones', async () => {
  await bench.stopEngine();
  const pool = await bench.kube.create(Kinds.NodePool, {
    ...(await bench.createPool('other')),
    metadata: { name: 'default', annotations: { [HASH]: '1', [VERSION]: 'v0' } },
  });
  await bench.createClaim('a', {}, { annotations: { [HASH]: '1', [VERSION]: 'v0' } });
  await bench.createClaim('drifted', {}, { annotations: { [HASH]: '1', [VERSION]: 'v0' } });
  const condition = {
    type: 'Drifted',
    status: 'True',
    reason: 'NodePoolDrifted',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const body = { status: { conditions: [condition] } };
  await bench.kube.patch(Kinds.NodeClaim, { name: 'drifted' }, { type: 'merge', body }, { subresource: 'status' });
  bench.startEngine();
  await bench.advance(1_000);
  expect(await stamps('NodeClaim', 'a')).toEqual([nodePoolHash(pool), NODE_POOL_HASH_VERSION]);
  expect(await stamps('NodeClaim', 'drifted')).toEqual(['1', NODE_POOL_HASH_VERSION]);
});
