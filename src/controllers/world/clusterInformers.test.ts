import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { formatResources } from '../../units/resources.ts';
import type { World } from './world.ts';

let bench: Workbench;
let world: World;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: (engine) => {
      ({ world } = engine);
      return [];
    },
  });
});
afterEach(() => bench.close());

const requested = (): string | undefined => formatResources(world.cluster.snapshot().nodes[0]?.requested ?? {})['cpu'];

/** The kubelet's report about the container's resources. */
async function report(cpu: string, condition?: { readonly type: string; readonly reason: string }): Promise<void> {
  const resources = { requests: { cpu } };
  const status = {
    phase: 'Running',
    conditions: condition ? [{ ...condition, status: 'True' }] : [],
    containerStatuses: [
      {
        name: 'main',
        image: 'app',
        imageID: 'app',
        ready: true,
        restartCount: 0,
        resources,
        allocatedResources: { cpu },
      },
    ],
  };
  const ref = { name: 'p', namespace: 'default' };
  await bench.kube.patch(Kinds.Pod, ref, { type: 'merge', body: { status } }, { subresource: 'status' });
  await bench.clock.idle();
}

it('counts what a pod holds by the report of its kubelet while an in-place resize is under way', async () => {
  await bench.kube.create(Kinds.Node, { metadata: { name: 'n' }, status: { allocatable: { cpu: '8' } } });
  await bench.createPod('p', { nodeName: 'n' });
  await bench.clock.idle();
  expect(requested()).toBe('500m');
  // Asked to shrink from 2 to 500m, and not done yet.
  await report('2');
  expect(requested()).toBe('2');
  await report('500m');
  expect(requested()).toBe('500m');
  await report('250m', { type: 'PodResizePending', reason: 'Deferred' });
  expect(requested()).toBe('500m');
  await report('250m', { type: 'PodResizePending', reason: 'Infeasible' });
  expect(requested()).toBe('250m');
});

it('leaves claims of other providers out of the cluster', async () => {
  await bench.createClaim('foreign', { nodeClassRef: { group: 'example.com', kind: 'OtherClass', name: 'x' } });
  await bench.createClaim('own');
  await bench.clock.idle();
  expect([...world.cluster.claims()].map(({ metadata }) => metadata.name)).toEqual(['own']);
});
