import { expect, it } from 'vitest';
import { AzureFixture } from '../../../test/fixtures/azure/azureFixture.ts';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { LearnedAllocatable } from '../../catalogue/learnedAllocatable.ts';
import { PrometheusMetrics } from '../../server/metrics.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { instanceAllocatableController } from './controller.ts';

it('learns from every node that joins, and again after a restart', async () => {
  let learned = new LearnedAllocatable();
  const bench = await Workbench.start({
    controllers: ({ world }) => [nodeClaimLifecycleController(world), instanceAllocatableController(world, learned)],
  });
  await bench.createClaim('first');
  await bench.advance(60_000);
  const [node] = await bench.nodes();
  const [claim] = (await bench.kube.list(Kinds.NodeClaim)).items;
  const rooms = learned.list();
  expect(node?.metadata.labels?.[Labels.initialized]).toBe('true');
  expect(rooms.map(({ nodes }) => nodes)).toEqual(claim?.status?.imageID === undefined ? [] : [1]);
  await bench.stopEngine();
  learned = new LearnedAllocatable();
  bench.startEngine();
  await bench.advance(60_000);
  expect(learned.list()).toEqual(rooms);
  await bench.close();
});

it('plans with the resources that nodes of the same build had, and exports both figures', async () => {
  const metrics = new PrometheusMetrics({ build: { version: '0' } });
  const fixture = await AzureFixture.start({ metrics });
  const nodeClass = await fixture.makeNodeClass('default');
  const find = async () => {
    const types = await fixture.cloud.instanceTypes({ metadata: { name: 'pool' } } as never, nodeClass);
    const type = types.find(({ name }) => name === 'Standard_D2s_v3');
    if (type === undefined) throw new Error('Standard_D2s_v3 is not offered');
    return type;
  };
  const claim = fixture.claimNamed('pool-1', [
    { key: Labels.instanceType, operator: 'In', values: ['Standard_D2s_v3'] },
  ]);
  const { imageID, capacity, allocatable } = await fixture.launch(claim);
  const before = await find();
  const real = { ...allocatable, memory: '5600Mi', 'ephemeral-storage': '119703055367' };
  fixture.cloud.learned.learn(
    { ...claim, status: { ...(imageID && { imageID }), capacity: { ...capacity }, allocatable: { ...allocatable } } },
    {
      metadata: { name: 'n', labels: { [Labels.instanceType]: 'Standard_D2s_v3', [Labels.initialized]: 'true' } },
      status: { allocatable: real },
    },
  );
  const after = await find();
  expect(after.allocatable['memory']?.toString()).toBe('5600Mi');
  expect(after.allocatable['cpu']).toEqual(before.allocatable['cpu']);
  expect(after.capacity).toEqual(before.capacity);
  expect(await find()).toBe(after);
  const lines = (await metrics.render())
    .split('\n')
    .filter((line) => /^nodewright_instance_type_allocatable.*memory/.test(line));
  expect(lines).toEqual([
    expect.stringMatching(/source="estimate"\} 5\d{9}$/),
    expect.stringMatching(/source="learned"\} 5872025600$/),
  ]);
  await fixture.close();
});
