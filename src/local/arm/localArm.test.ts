import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ArmFixture, POLL } from '../../../test/fixtures/local/armFixture.ts';

describe('a local Azure that restarts from its state file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nodewright-azure-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('restores VMs, addresses, disks, clusters and groups, and does not create default resources again', async () => {
    const options = { subscriptionId: '00000000-0000-4000-8000-000000000001', stateFile: join(folder, 'azure.jsonl') };
    const first = await ArmFixture.start(options);
    const { group } = first;
    await first.createMachine('runs');
    await first.createMachine('off');
    await first.compute.virtualMachines.powerOff(group, 'off', POLL);
    await first.resources.resourceGroups.createOrUpdate('mine', { location: 'eastus', tags: { a: 'b' } });
    await first.network.routeTables.beginDeleteAndWait(group, 'aks-agentpool-10000000-routetable', POLL);
    const { network } = first.arm;
    await first.close();

    const second = await ArmFixture.start(options);
    expect(second.arm.network).toEqual(network);
    expect(second.arm.virtualMachines().map(({ name, isOff, customData }) => [name, isOff, customData])).toEqual([
      ['off', true, btoa('#!/bin/bash\n')],
      ['runs', false, btoa('#!/bin/bash\n')],
    ]);
    expect((await second.resources.resourceGroups.get('mine')).tags).toEqual({ a: 'b' });
    await expect(second.network.routeTables.get(group, 'aks-agentpool-10000000-routetable')).rejects.toMatchObject({
      statusCode: 404,
    });
    const nic = await second.createInterface('new');
    expect(nic.ipConfigurations?.[0]?.privateIPAddress).toBe('10.224.0.6');
    const cores = [];
    for await (const usage of second.compute.usage.list('eastus')) {
      if (usage.name?.value === 'cores') cores.push(usage.currentValue);
    }
    expect(cores).toEqual([4]);
    const events: string[] = [];
    second.arm.onVirtualMachine(({ type, vm }) => events.push(`${type} ${vm.name}`));
    await second.compute.virtualMachines.start(group, 'off', POLL);
    await second.compute.virtualMachines.delete(group, 'runs', POLL);
    expect(events).toEqual(['started off', 'deleted runs']);
    await second.close();
  });
});
