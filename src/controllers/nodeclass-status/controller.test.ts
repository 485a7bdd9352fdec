import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { Finalizers } from '../../api/labels.ts';
import type { NodeClassResult } from '../../azure/nodeClass.ts';
import { nodeClassStatusController } from './controller.ts';

let bench: Workbench;
let asked: number;
let result: NodeClassResult;

beforeEach(async () => {
  asked = 0;
  result = { status: { kubernetesVersion: '1.36.3' }, requeueAfter: 60_000, errors: [] };
  const resolver = {
    reconcileStatus: async () => {
      asked++;
      return result;
    },
  };
  bench = await Workbench.start({
    controllers: ({ world, informers }) => [
      nodeClassStatusController(world, informers.of(Kinds.AKSNodeClass), resolver),
    ],
  });
});
afterEach(() => bench.close());

const nodeClass = () => bench.kube.get(Kinds.AKSNodeClass, { name: 'c' });

it('adds the finalizer, writes the resolved status, and reconciles again when the result asks for it', async () => {
  await bench.kube.create(Kinds.AKSNodeClass, {
    metadata: { name: 'c' },
    spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128 },
  });
  await bench.clock.idle();
  expect((await nodeClass()).metadata.finalizers).toEqual([Finalizers.nodeClassTermination]);
  expect((await nodeClass()).status?.kubernetesVersion).toBe('1.36.3');
  const before = asked;
  await bench.advance(59_000);
  expect(asked).toBe(before);
  result = { ...result, status: { kubernetesVersion: '1.37.0' } };
  await bench.advance(2_000);
  expect((await nodeClass()).status?.kubernetesVersion).toBe('1.37.0');
});

it('writes what it could resolve, and retries soon after a failure', async () => {
  result = { ...result, errors: [new Error('ARM is slow')] };
  await bench.kube.create(Kinds.AKSNodeClass, {
    metadata: { name: 'c' },
    spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128 },
  });
  await bench.clock.idle();
  expect((await nodeClass()).status?.kubernetesVersion).toBe('1.36.3');
  const before = asked;
  await bench.advance(5_000);
  expect(asked).toBeGreaterThan(before);
});

it('leaves a class that is being deleted alone', async () => {
  await bench.kube.create(Kinds.AKSNodeClass, {
    metadata: { name: 'c', finalizers: ['example.com/hold'] },
    spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128 },
  });
  await bench.clock.idle();
  await bench.kube.delete(Kinds.AKSNodeClass, { name: 'c' });
  await bench.clock.idle();
  const before = asked;
  await bench.advance(600_000);
  expect(asked).toBe(before);
});
