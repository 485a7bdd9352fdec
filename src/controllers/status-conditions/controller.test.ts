import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { statusConditionsController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => [
      nodeClaimLifecycleController(world),
      statusConditionsController(world, Kinds.NodeClaim, world.informers.nodeClaims),
    ],
  });
});
afterEach(() => bench.close());

it('reports and times each transition of a condition, and the deletion', async () => {
  await bench.createClaim('a');
  await bench.advance(60_000);
  const [registered] = await bench.events('Registered');
  expect(registered).toMatchObject({
    type: 'Normal',
    involvedObject: { kind: 'NodeClaim', name: 'a' },
    message: 'Status condition transitioned, Type: Registered, Status: Unknown -> True, Reason: Registered',
  });
  expect(
    bench.metrics.value('operator_nodeclaim_status_condition_transitions_total', {
      type: 'Initialized',
      status: 'True',
    }),
  ).toBe(1);
  expect(
    bench.metrics.observed('operator_nodeclaim_status_condition_transition_seconds', {
      type: 'Initialized',
      status: 'Unknown',
    }),
  ).toEqual([25]);
  await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
  await bench.kube.patch(Kinds.Node, { name: 'node-a' }, { type: 'merge', body: { metadata: { finalizers: null } } });
  await bench.advance(30_000);
  expect(bench.metrics.observed('operator_nodeclaim_termination_duration_seconds')).toHaveLength(1);
});

it('does not report old transitions again after a restart', async () => {
  await bench.createClaim('a');
  await bench.advance(60_000);
  await bench.stopEngine();
  bench.startEngine();
  await bench.advance(5_000);
  expect(await bench.events('Registered')).toMatchObject([{ count: 1 }]);
});
