import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { ArmFixture, POLL } from '../testing/armFixture.ts';
import { LocalArm, type ArmState } from './localArm.ts';

describe('the state of the local Azure', () => {
  it('survives a restart as JSON, with machines, addresses, quota and what was under way', async () => {
    const first = await ArmFixture.start();
    const { group } = first;
    await first.createMachine('runs');
    await first.createMachine('off');
    await first.compute.virtualMachines.powerOff(group, 'off', POLL);
    first.arm.setQuota('cores', 8);
    first.arm.restrict({ size: 'Standard_D8s_v5', zones: ['1'] });
    const saved = JSON.parse(JSON.stringify(first.arm.exportState())) as ArmState;
    const { subscriptionId } = first.arm;
    await first.close();

    const second = await ArmFixture.start({ subscriptionId });
    const events: string[] = [];
    second.arm.onVirtualMachine(({ type, vm }) => events.push(`${type} ${vm.name} ${vm.customData ?? ''}`));
    second.arm.importState(saved);
    expect(events).toEqual([`created runs ${btoa('#!/bin/bash\n')}`]);
    expect(JSON.parse(JSON.stringify(second.arm.exportState()))).toEqual(saved);
    const machine = await second.compute.virtualMachines.get(group, 'runs');
    expect(machine.provisioningState).toBe('Succeeded');
    const nic = await second.createInterface('new');
    expect(nic.ipConfigurations?.[0]?.privateIPAddress).toBe('10.224.0.6');
    await expect(
      second.createMachine('big', { hardwareProfile: { vmSize: 'Standard_D16s_v5' } }),
    ).rejects.toMatchObject({ code: 'OperationNotAllowed' });
    await second.compute.virtualMachines.start(group, 'off', POLL);
    expect(events[1]).toContain('started off');
    await second.close();
  });

  it('brings creations and deletions that were under way to their end', async () => {
    const clock = new VirtualClock(Date.now());
    const before = await ArmFixture.start({ clock });
    const { group } = before;
    const at = (name: string): string => `resourceGroups/${group}/providers/${name}`;
    const version = '?api-version=2024-07-01';
    const send = (method: 'PUT' | 'DELETE', name: string, body?: object) =>
      before.ask(`${at(name)}${version}`, { method, ...(body && { body }) });
    const ids = new Map<string, string>();
    for (const name of ['going', 'coming']) {
      const ipConfigurations = [{ name: 'a', properties: { subnet: { id: before.arm.network.subnetId } } }];
      const body = { location: 'eastus', properties: { ipConfigurations } };
      const made = await send('PUT', `Microsoft.Network/networkInterfaces/${name}`, body);
      ids.set(name, (made.body as { id: string }).id);
    }
    await clock.advance(1000);
    const put = (name: string) => {
      const { hardwareProfile, osProfile, storageProfile } = before.machineOn(name);
      const networkInterfaces = [{ id: ids.get(name), properties: { deleteOption: 'Delete' } }];
      const properties = { hardwareProfile, osProfile, storageProfile, networkProfile: { networkInterfaces } };
      return send('PUT', `Microsoft.Compute/virtualMachines/${name}`, { location: 'eastus', properties });
    };
    await put('going');
    await clock.advance(1000);
    await send('DELETE', 'Microsoft.Compute/virtualMachines/going');
    await put('coming');
    const saved = before.arm.exportState();
    expect(before.arm.virtualMachines().map(({ name, provisioningState }) => `${name} ${provisioningState}`)).toEqual([
      'coming Creating',
      'going Deleting',
    ]);
    const { subscriptionId } = before.arm;
    await before.close();

    const arm = new LocalArm({ clock, random: new SeededRandom(2), subscriptionId });
    const events: string[] = [];
    arm.onVirtualMachine(({ type, vm }) => events.push(`${type} ${vm.name}`));
    arm.importState(saved);
    expect(events).toEqual(['deleted going']);
    await clock.advance(10_000);
    expect(events).toEqual(['deleted going', 'created coming']);
    expect(() => new LocalArm({ clock, random: new SeededRandom(2) }).importState(saved)).toThrow(/saved state is of/);
    await arm.close();
  });
});
