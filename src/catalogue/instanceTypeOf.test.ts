import { expect, it } from 'vitest';
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import { Labels } from '../api/labels.ts';
import { instanceTypeOf } from './instanceTypeOf.ts';
import { readSku } from './resourceSku.ts';

const nodeClass: AksNodeClass = {
  apiVersion: 'karpenter.azure.com/v1beta1',
  kind: 'AKSNodeClass',
  metadata: { name: 'bare' },
  spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128, gpu: { mode: 'None' } },
};
const settings = {
  location: 'eastus',
  networking: { networkPlugin: 'azure', networkPluginMode: 'overlay' },
  nodeResourceGroup: 'group',
  memoryOverheadPercent: 0.075,
} as const;

it.each([
  ['Standard_NC24ads_A100_v4', ['A100']],
  ['Standard_NV4ads_V710_v5', ['V710']],
  // AKS gives these nodes no such label.
  ['Standard_ND96isr_MI300X_v5', []],
  ['Standard_D4s_v5', []],
])('labels the GPU of %s: %j', (name, expected) => {
  const capabilities = Object.entries({ vCPUs: '4', MemoryGB: '16', CpuArchitectureType: 'x64', GPUs: '1' });
  const listed = {
    name,
    resourceType: 'virtualMachines',
    capabilities: capabilities.map(([key, value]) => ({ name: key, value })),
  };
  const sku = readSku(listed, 'eastus');
  if (sku === undefined) throw new Error(`${name} was not read`);
  const label = instanceTypeOf(sku, nodeClass, settings, []).requirements.get(Labels.skuGpuName);
  expect(label.complement ? 'anything' : [...label.values]).toEqual(expected);
});
