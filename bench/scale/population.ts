/** A cluster at rest: nodes of one pool with fifteen pods each, all of them up. */
import type { Node, Pod } from '../../src/api/kinds.ts';
import type { NodeClaim } from '../../src/api/kinds/nodeClaim.ts';
import type { NodePool } from '../../src/api/kinds/nodePool.ts';
import { Annotations, Finalizers, Labels } from '../../src/api/labels.ts';
import { NODE_POOL_HASH_VERSION, nodePoolHash } from '../../src/api/nodePoolHash.ts';
import type { Draft } from '../../src/kube/kube.ts';

export const POOL = 'default';
const CLASS_REF = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };
const SINCE = '2026-01-01T00:00:00Z';
const CAPACITY = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '20Gi' };
const isTrue = (type: string) => ({
  type,
  status: 'True' as const,
  reason: type,
  message: '',
  lastTransitionTime: SINCE,
  observedGeneration: 1,
});

const claimName = (index: number): string => `${POOL}-${String(index).padStart(5, '0')}`;
const nodeName = (index: number): string => `kwok-${claimName(index)}`;

/** As the loops have left them: a cluster at rest has nothing to be stamped. */
const stamps = (): Record<string, string> => ({
  [Annotations.nodePoolHash]: nodePoolHash(poolSpec() as NodePool),
  [Annotations.nodePoolHashVersion]: NODE_POOL_HASH_VERSION,
});

export function poolOf(): Draft<NodePool> {
  const { metadata, spec } = poolSpec();
  return { metadata: { ...metadata, annotations: stamps() }, spec };
}

function poolSpec(): Draft<NodePool> {
  return {
    metadata: { name: POOL },
    spec: {
      disruption: { consolidateAfter: 'Never', consolidationPolicy: 'WhenEmpty', budgets: [{ nodes: '10%' }] },
      template: { spec: { nodeClassRef: CLASS_REF, requirements: [], expireAfter: 'Never' } },
    },
  };
}

function labelsOf(index: number): Record<string, string> {
  return {
    [Labels.nodePool]: POOL,
    'karpenter.kwok.sh/kwoknodeclass': 'default',
    [Labels.instanceType]: 'm-8x-amd64-linux',
    [Labels.zone]: `test-zone-${'abcd'[index % 4]}`,
    [Labels.capacityType]: 'spot',
    [Labels.arch]: 'amd64',
    [Labels.os]: 'linux',
    [Labels.hostname]: claimName(index),
  };
}

export function claimOf(index: number): {
  readonly draft: Draft<NodeClaim>;
  readonly status: NonNullable<NodeClaim['status']>;
} {
  return {
    draft: {
      metadata: {
        name: claimName(index),
        labels: labelsOf(index),
        annotations: stamps(),
        finalizers: [Finalizers.termination],
      },
      spec: {
        nodeClassRef: CLASS_REF,
        requirements: [{ key: Labels.instanceType, operator: 'In', values: ['m-8x-amd64-linux'] }],
        resources: { requests: { cpu: '7', pods: '15' } },
        expireAfter: 'Never',
      },
    },
    status: {
      providerID: `kwok://${nodeName(index)}`,
      nodeName: nodeName(index),
      capacity: CAPACITY,
      allocatable: CAPACITY,
      conditions: ['Launched', 'Registered', 'Initialized', 'ConsistentStateFound', 'Ready'].map(isTrue),
    },
  };
}

export function nodeOf(index: number, claimUid: string): Draft<Node> {
  const owner = { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: claimName(index), uid: claimUid };
  return {
    metadata: {
      name: nodeName(index),
      labels: { ...labelsOf(index), [Labels.registered]: 'true', [Labels.initialized]: 'true' },
      finalizers: [Finalizers.termination],
      ownerReferences: [{ ...owner, blockOwnerDeletion: true }],
    },
    spec: { providerID: `kwok://${nodeName(index)}` },
    status: { capacity: CAPACITY, allocatable: CAPACITY, conditions: [isTrue('Ready')] },
  };
}

export function podOf(index: number, nodes: number): Draft<Pod> {
  const app = `app-${index % 1_500}`;
  return {
    metadata: { name: `${app}-${String(index).padStart(5, '0')}`, namespace: 'default', labels: { app } },
    spec: {
      nodeName: nodeName(index % nodes),
      containers: [
        {
          name: 'main',
          image: 'app',
          resources: { requests: { cpu: '400m', memory: '1Gi' }, limits: { memory: '2Gi' } },
        },
      ],
    },
    status: { phase: 'Running', startTime: SINCE, conditions: ['PodScheduled', 'Ready'].map(isTrue) },
  };
}
