import { describe, expect, it } from 'vitest';
import { clusterLabel } from '../catalogue/nodeSettings.ts';
import { vmNameOf, providerIdOf } from './providerId.ts';

describe('provider ids', () => {
  const id = '/subscriptions/S/resourceGroups/MC_One_Two/providers/Microsoft.Compute/virtualMachines/aks-One';

  it('lower the name of the group and nothing else', () => {
    expect(providerIdOf(id)).toBe(`azure://${id.replace('MC_One_Two', 'mc_one_two')}`);
    expect(providerIdOf('/strange')).toBe('azure:///strange');
  });

  it('lead back to the VM', () => {
    expect(vmNameOf(providerIdOf(id))).toBe('aks-One');
    expect(vmNameOf(`azure://${id}/virtualMachines/0`)).toBeUndefined();
    expect(vmNameOf('kwok://node')).toBeUndefined();
  });
});

describe('the cluster label', () => {
  it.each([
    ['MC_group_name_eastus', 'MC_group_name_eastus'],
    ['MC_(x)', 'MC_-x-z'],
    ['a'.repeat(80), 'a'.repeat(63)],
    [`${'a'.repeat(62)}_b`, `${'a'.repeat(62)}z`],
    ['ends.', 'ends.z'],
  ])('%s', (group, label) => {
    expect(clusterLabel(group)).toBe(label);
  });
});
