import { describe, expect, it } from 'vitest';
import { aksMachineName, machineNameOfVm } from './aksMachineBody.ts';

describe('the name of an AKS machine', () => {
  it.each([
    ['pool-abcde', 'pool-abcde'],
    ['abcdefghijklmnopqrstuvwxyzab-12345', 'abcdefghijklmnopqrstuvwxyzab-12345'],
    ['abcdefghijklmnopqrstuvwxyzabc-12345', 'abcdefghijklmnopqrstuv71x2xr-12345'],
    ['a-very-long-nodepool-name-that-goes-on-and-on-abcde', 'a-very-long-nodepool-n7py36t-abcde'],
  ])('of claim %s is %s', (claim, machine) => {
    expect(aksMachineName(claim)).toBe(machine);
  });

  it('is read back from the VM that AKS makes', () => {
    expect(machineNameOfVm('aks-aksmanagedap-pool-abcde-12345678-vm', 'aksmanagedap')).toBe('pool-abcde');
    expect(machineNameOfVm('aks-pool-abcde', 'aksmanagedap')).toBeUndefined();
  });
});
