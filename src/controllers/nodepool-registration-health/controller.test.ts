import { afterEach, beforeEach, expect, it } from 'vitest';
import { conditionOf, Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { LaunchError } from '../../cloud/errors.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { nodePoolRegistrationHealthController } from './controller.ts';

let bench: Workbench;
let poolUid: string;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => [nodePoolRegistrationHealthController(world), nodeClaimLifecycleController(world)],
  });
  poolUid = (await bench.createPool()).metadata.uid ?? '';
  await bench.clock.idle();
});
afterEach(() => bench.close());

const MINUTE = 60_000;
async function health(): Promise<string> {
  const condition = conditionOf(await bench.kube.get(Kinds.NodePool, { name: 'default' }), 'NodeRegistrationHealthy');
  return `${condition?.status} ${condition?.reason}`;
}
const claimOfPool = (name: string, uid = poolUid) =>
  bench.createClaim(
    name,
    {},
    { ownerReferences: [{ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'default', uid }] },
  );

async function fail(name: string): Promise<void> {
  bench.cloud.joins = false;
  await claimOfPool(name);
  await bench.advance(16 * MINUTE);
  bench.cloud.joins = true;
}

it('is unknown at first, and good after the first node', async () => {
  expect(await health()).toBe('Unknown AwaitingReconciliation');
  await claimOfPool('a');
  await bench.advance(MINUTE);
  expect(await health()).toBe('True NodeRegistrationHealthy');
});

it('is bad after two failures among four, and good again when they are outnumbered', async () => {
  await fail('a');
  expect(await health()).toBe('Unknown AwaitingReconciliation');
  await fail('b');
  expect(await health()).toBe('False RegistrationFailed');
  for (const name of ['c', 'd']) {
    await claimOfPool(name);
    await bench.advance(MINUTE);
    expect(await health()).toBe('False RegistrationFailed');
  }
  await claimOfPool('e');
  await bench.advance(MINUTE);
  expect(await health()).toBe('True NodeRegistrationHealthy');
});

it('reports why launches fail', async () => {
  bench.cloud.launchOutage = new LaunchError('QuotaExceeded', 'no cores');
  for (const name of ['a', 'b']) await claimOfPool(name);
  await bench.advance(6 * MINUTE);
  expect(await health()).toBe('False QuotaExceeded');
});

it('is reset by a change of template or class, and survives a restart', async () => {
  await fail('a');
  await fail('b');
  await bench.stopEngine();
  bench.startEngine();
  await bench.clock.idle();
  await claimOfPool('c');
  await bench.advance(MINUTE);
  expect(await health()).toBe('False RegistrationFailed');
  const body = { spec: { template: { metadata: { labels: { new: 'one' } } } } };
  await bench.kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body });
  await bench.clock.idle();
  expect(await health()).toBe('Unknown AwaitingReconciliation');
  await claimOfPool('d');
  await bench.advance(MINUTE);
  expect(await health()).toBe('True NodeRegistrationHealthy');
  const delay = { spec: { nodeRegistrationDelay: '1s' } };
  await bench.kube.patch(Kinds.KWOKNodeClass, { name: 'default' }, { type: 'merge', body: delay });
  await bench.clock.idle();
  expect(await health()).toBe('Unknown AwaitingReconciliation');
});

it('ignores claims of an earlier pool with the same name', async () => {
  bench.cloud.joins = false;
  for (const name of ['a', 'b']) await claimOfPool(name, 'another-uid').catch(() => undefined);
  await bench.advance(16 * MINUTE);
  expect(await health()).toBe('Unknown AwaitingReconciliation');
});
