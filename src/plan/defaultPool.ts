/** The NodePool `default` and its class, as created by AKS by default. */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Groups, Labels } from '../api/labels.ts';

export const DEFAULT_NODE_CLASS: AksNodeClass = {
  apiVersion: `${Groups.azure}/v1beta1`,
  kind: 'AKSNodeClass',
  metadata: { name: 'default' },
  spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128 },
};

export const DEFAULT_NODE_POOL: NodePool = {
  apiVersion: `${Groups.karpenter}/v1`,
  kind: 'NodePool',
  metadata: { name: 'default' },
  spec: {
    disruption: {
      budgets: [{ nodes: '10%' }],
      consolidateAfter: '0s',
      consolidationPolicy: 'WhenEmptyOrUnderutilized',
    },
    template: {
      spec: {
        expireAfter: 'Never',
        nodeClassRef: { group: Groups.azure, kind: 'AKSNodeClass', name: 'default' },
        requirements: [
          { key: Labels.arch, operator: 'In', values: ['amd64'] },
          { key: Labels.os, operator: 'In', values: ['linux'] },
          { key: Labels.capacityType, operator: 'In', values: ['on-demand'] },
          { key: Labels.skuFamily, operator: 'In', values: ['D'] },
        ],
      },
    },
  },
};
