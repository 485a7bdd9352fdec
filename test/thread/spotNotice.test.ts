import { expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { VirtualAks } from '../fixtures/engine/virtualAks.ts';

it('acts on a spot notice before Azure takes the instance back', { timeout: 120_000 }, async () => {
  const aks = await VirtualAks.start({ seed: 'spot', scenario: 'spot-storm', profile: 'calm' });
  const start = aks.clock.now();
  const noticed: string[] = [];
  const gone = new Map<string, number>();
  aks.world.faults.subscribe(({ type, fault, target }) => {
    if (type === 'struck' && fault.order.kind === 'spot-eviction') noticed.push(target ?? '');
  });
  aks.world.arm.onVirtualMachine(({ type, vm }) => {
    if (type === 'deleted') gone.set(vm.name, aks.clock.now() - start);
  });
  await aks.advance(59_000);
  const before = (await aks.kube.list(Kinds.NodeClaim)).items.map(({ status }) => status?.nodeName);
  // The notice comes after a minute and is 30 s long; nodewright drains and deletes the instance meanwhile.
  await aks.advance(29_000);
  expect(noticed).toHaveLength(1);
  expect(before).toContain(noticed[0]);
  expect(gone.get(noticed[0] ?? '')).toBeLessThan(90_000);
  const after = (await aks.kube.list(Kinds.NodeClaim)).items.map(({ status }) => status?.nodeName);
  expect(after).not.toContain(noticed[0]);
  // Its pods run elsewhere within another minute.
  await aks.advance(60_000);
  const pods = (await aks.kube.list(Kinds.Pod, { namespace: 'default' })).items;
  expect(pods.filter(({ status }) => status?.phase === 'Running').length).toBeGreaterThanOrEqual(46);
  await aks.stop();
});
