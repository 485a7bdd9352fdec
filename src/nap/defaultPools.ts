/**
 * Objects that AKS creates with node auto-provisioning: AKSNodeClass `default`, NodePools `default` and `system-surge`.
 */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Groups, Labels } from '../api/labels.ts';
import type { Draft } from '../kube/kube.ts';

type NodePoolDraft = Draft<NodePool>;

export const defaultNodeClass: Draft<AksNodeClass> = {
  metadata: { name: 'default' },
  spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128 },
};

const requirements: NodePool['spec']['template']['spec']['requirements'] = [
  { key: Labels.arch, operator: 'In', values: ['amd64'] },
  { key: Labels.os, operator: 'In', values: ['linux'] },
  { key: Labels.capacityType, operator: 'In', values: ['on-demand'] },
  { key: Labels.skuFamily, operator: 'In', values: ['D'] },
];

const nodeClassRef = { group: Groups.azure, kind: 'AKSNodeClass', name: 'default' };

const defaultPool: NodePoolDraft = {
  metadata: {
    name: 'default',
    annotations: { 'kubernetes.io/description': 'General purpose NodePool for generic workloads' },
  },
  spec: {
    disruption: {
      consolidateAfter: '0s',
      consolidationPolicy: 'WhenEmptyOrUnderutilized',
      budgets: [{ nodes: '10%' }],
    },
    template: { spec: { nodeClassRef, requirements, expireAfter: 'Never' } },
  },
};

/** In a cluster with Cilium, nodes wait for its agent. */
const systemSurgePool = (hasCilium: boolean): NodePoolDraft => ({
  metadata: {
    name: 'system-surge',
    annotations: { 'kubernetes.io/description': 'Surge capacity pool for system pod pressure' },
  },
  spec: {
    disruption: {
      consolidateAfter: '0s',
      consolidationPolicy: 'WhenEmptyOrUnderutilized',
      budgets: [{ nodes: '30%' }],
    },
    template: {
      metadata: {
        labels: { [Labels.aksMode]: 'system', ...(hasCilium && { [Labels.aksEbpfDataplane]: 'cilium' }) },
      },
      spec: {
        nodeClassRef,
        requirements,
        expireAfter: 'Never',
        taints: [{ key: 'CriticalAddonsOnly', value: 'true', effect: 'NoSchedule' }],
        ...(hasCilium && {
          startupTaints: [{ key: 'node.cilium.io/agent-not-ready', value: 'true', effect: 'NoExecute' as const }],
        }),
      },
    },
  },
});

export function defaultPoolsFor(network: { readonly networkDataplane: string }): readonly NodePoolDraft[] {
  return [defaultPool, systemSurgePool(network.networkDataplane === 'cilium')];
}

/** For the network that AKS recommends. */
export const defaultPools = defaultPoolsFor({ networkDataplane: 'cilium' });
