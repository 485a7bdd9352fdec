import { expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { VirtualAks } from '../fixtures/engine/virtualAks.ts';

it('acts on a spot notice before Azure takes the instance back', { timeout: 120_000 }, async () => {
  const aks = await VirtualAks.start({ seed: 'spot', scenario: 'spot-storm', profile: 'calm' });
  const struck: string[] = [];
  aks.world.faults.subscribe(({ type, fault, target }) => {
    if (type === 'struck' && fault.order.kind === 'spot-eviction') struck.push(target ?? '');
  });
  await aks.advance(70_000);
  expect(struck).toHaveLength(1);
  const vm = aks.world.arm.virtualMachines().find(({ name }) => name === struck[0]);
  expect(vm?.priority).toBe('Spot');
  const claims = (await aks.kube.list(Kinds.NodeClaim)).items;
  const noticed = claims.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  expect(noticed.map(({ status }) => status?.nodeName)).toEqual([vm?.computerName]);
  // Its pods run elsewhere within a minute.
  await aks.advance(60_000);
  const pods = (await aks.kube.list(Kinds.Pod, { namespace: 'default' })).items;
  expect(pods.filter(({ status }) => status?.phase === 'Running').length).toBeGreaterThanOrEqual(46);
  await aks.stop();
});
