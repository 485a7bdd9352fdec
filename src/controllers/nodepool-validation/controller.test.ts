import { afterEach, beforeEach, expect, it } from 'vitest';
import { conditionOf, poolSpec, Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { nodePoolReadinessController } from '../nodepool-readiness/controller.ts';
import { nodePoolValidationController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => [nodePoolValidationController(world), nodePoolReadinessController(world)],
  });
});
afterEach(() => bench.close());

const pool = () => bench.kube.get(Kinds.NodePool, { name: 'default' });

it('makes a pool without faults ready, together with its class', async () => {
  await bench.createPool();
  await bench.advance(1_000);
  expect(conditionOf(await pool(), 'ValidationSucceeded')?.status).toBe('True');
  expect(conditionOf(await pool(), 'Ready')?.status).toBe('True');
});

it('reports a fault that the schema lets through, and clears it when it is fixed', async () => {
  const spec = poolSpec();
  spec.template.spec.taints = [{ key: 'a', value: 'x', effect: 'NoSchedule' }];
  spec.template.spec.startupTaints = [{ key: 'a', value: 'y', effect: 'NoSchedule' }];
  await bench.createPool('default', spec);
  await bench.advance(1_000);
  const verdict = conditionOf(await pool(), 'ValidationSucceeded');
  expect(verdict).toMatchObject({ status: 'False', reason: 'NodePoolValidationFailed' });
  expect(verdict?.message).toContain('startupTaints');
  expect(verdict?.message).not.toContain('[object');
  expect(conditionOf(await pool(), 'Ready')?.status).toBe('False');
  const body = { spec: { template: { spec: { startupTaints: null } } } };
  await bench.kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body });
  await bench.advance(1_000);
  expect(conditionOf(await pool(), 'Ready')?.status).toBe('True');
});
