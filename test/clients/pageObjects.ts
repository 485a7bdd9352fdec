/** Objects that the pages refer to. */
import type { NodeClaim } from '../../src/api/kinds/nodeClaim.ts';
import type { NodePool } from '../../src/api/kinds/nodePool.ts';
import { Labels } from '../../src/api/labels.ts';
import type { Draft } from '../../src/kube/kube.ts';

const CONTAINERS = [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '500m', memory: '1Gi' } } }];

export function webOf(name: string, replicas: number): object {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: CONTAINERS } },
    },
  };
}

/** Waits for a node that no pool can provide. */
export const podNamed = (name: string, namespace: string) => ({
  metadata: { name, namespace },
  spec: { nodeSelector: { 'example.com/none': 'such' }, containers: CONTAINERS },
});

const CLASS = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' };
const ON_DEMAND = [{ key: Labels.capacityType, operator: 'In', values: ['on-demand'] }];

export const POOL: Draft<NodePool> = {
  metadata: { name: 'general' },
  spec: {
    template: { spec: { nodeClassRef: CLASS, requirements: ON_DEMAND } },
    disruption: { consolidateAfter: 'Never' },
  },
} as unknown as Draft<NodePool>;

/** Its node is `aks-general-7k2lp`. */
export const CLAIM: Draft<NodeClaim> = {
  metadata: { name: 'general-7k2lp', labels: { [Labels.nodePool]: 'general' } },
  spec: { nodeClassRef: CLASS, requirements: ON_DEMAND, resources: { requests: { cpu: '1' } } },
} as unknown as Draft<NodeClaim>;

export const NEW_POOL = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  ...POOL,
  metadata: { name: 'more' },
};

export const EKS: readonly object[] = [
  {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'general' },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
          requirements: [{ key: 'karpenter.k8s.aws/instance-category', operator: 'In', values: ['c', 'm'] }],
        },
      },
    },
  },
  {
    apiVersion: 'karpenter.k8s.aws/v1',
    kind: 'EC2NodeClass',
    metadata: { name: 'default' },
    spec: { amiSelectorTerms: [{ alias: 'al2023@latest' }] },
  },
];

/** A Karpenter as installed by its chart, as far as a migration reads it. */
export function karpenterOf(name: string): readonly object[] {
  const labels = { app: name };
  const account = `${name}-sa`;
  const metadata = { namespace: 'kube-system' };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...metadata, name: account } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { ...metadata, name },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { serviceAccountName: account, containers: [{ name: 'controller', image: 'karpenter:1.14.1' }] },
        },
      },
    },
  ];
}
