import { describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { VirtualAks } from '../fixtures/engine/virtualAks.ts';

const MINUTE = 60_000;

interface Story {
  readonly early: string;
  readonly whole: string;
  readonly changes: number;
  readonly vms: number;
  readonly refusals: number;
}

/** The whole product in a rough world: VMs that Azure refuses, spot VMs that it takes back, watches that drop. */
async function story(seed: string, minutes: number): Promise<Story> {
  const vms = new Set<string>();
  let refusals = 0;
  const aks = await VirtualAks.start({ seed, scenario: 'spot-storm', profile: 'realistic' });
  aks.world.arm.onVirtualMachine(({ vm }) => vms.add(vm.name));
  aks.world.faults.subscribe(({ type }) => {
    if (type === 'struck') refusals += 1;
  });
  await aks.advance(10 * MINUTE);
  const early = aks.fingerprint();
  await aks.advance((minutes - 10) * MINUTE);
  const result = { early, whole: aks.fingerprint(), changes: aks.changes, vms: vms.size, refusals };
  await aks.stop();
  return result;
}

describe('nodewright, Kubernetes and Azure under one virtual clock', { timeout: 600_000 }, () => {
  it('give the same history to the byte from the same seed, and another from another', async () => {
    const first = await story('one', 60);
    const again = await story('one', 60);
    const other = await story('two', 10);
    expect(again).toEqual(first);
    expect(other.early).not.toBe(first.early);
    // A history in which nothing happens would be easy to repeat.
    expect(first.vms).toBeGreaterThan(15);
    expect(first.refusals).toBeGreaterThan(20);
    expect(first.changes).toBeGreaterThan(5_000);
  });

  it('run a workload to its end without a socket', async () => {
    const aks = await VirtualAks.start({ seed: 'batch', scenario: 'quiet', profile: 'calm' });
    await aks.kube.create(Kinds.Job, {
      metadata: { name: 'sums', namespace: 'default' },
      spec: {
        completions: 6,
        parallelism: 6,
        template: {
          spec: {
            restartPolicy: 'Never',
            containers: [{ name: 'main', image: 'sums', resources: { requests: { cpu: '1', memory: '1Gi' } } }],
          },
        },
      },
    });
    await aks.advance(2 * MINUTE);
    expect((await aks.kube.get(Kinds.Job, { name: 'sums', namespace: 'default' })).status?.succeeded).toBe(6);
    const nodes = (await aks.kube.list(Kinds.Node)).items.map(({ metadata }) => metadata.name);
    expect(aks.world.arm.virtualMachines().map(({ name }) => name)).toEqual(nodes);
    await aks.stop();
  });
});
