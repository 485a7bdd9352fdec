import { describe, expect, it } from 'vitest';
import type { NodePoolTemplate } from './kinds/nodePool.ts';
import { nodePoolHash } from './nodePoolHash.ts';

/** Templates as a user may write them, and what sigs.k8s.io/karpenter v1.14.1 hashes them to. */
const VECTORS: readonly (readonly [object, string])[] = [
  [
    {
      spec: { nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' }, requirements: [] },
    },
    '7719316286182947569',
  ],
  [
    {
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [],
        expireAfter: '720h',
      },
    },
    '10684441112471014376',
  ],
  [
    {
      metadata: {},
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [],
        expireAfter: '720h',
      },
    },
    '10684441112471014376',
  ],
  [
    {
      metadata: { labels: {} },
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [],
        expireAfter: '720h',
      },
    },
    '11815208321021083818',
  ],
  [
    {
      metadata: { labels: { a: 'b' } },
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [],
        expireAfter: '720h',
      },
    },
    '7981348677585938461',
  ],
  [
    {
      metadata: { labels: { a: 'b', c: 'ü' }, annotations: { x: '' } },
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [],
        expireAfter: '720h',
      },
    },
    '2920708313055850403',
  ],
  [
    {
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [],
        expireAfter: 'Never',
      },
    },
    '7719316286182947569',
  ],
  [
    {
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [],
        expireAfter: '43200m',
      },
    },
    '10684441112471014376',
  ],
  [
    {
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [],
        expireAfter: '0s',
      },
    },
    '13299542123811794366',
  ],
  [
    {
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [],
        expireAfter: '720h',
        terminationGracePeriod: '0s',
      },
    },
    '10139966087244509857',
  ],
  [
    {
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [],
        expireAfter: '720h',
        terminationGracePeriod: '48h',
      },
    },
    '11256591909625166457',
  ],
  [
    {
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [],
        expireAfter: '720h',
        taints: [],
      },
    },
    '9192506726283854313',
  ],
  [
    {
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [],
        expireAfter: '720h',
        taints: [{ key: 'a', effect: 'NoSchedule' }],
      },
    },
    '17566410814917645641',
  ],
  [
    {
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [],
        expireAfter: '720h',
        startupTaints: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'b', value: 'c', effect: 'NoExecute' },
        ],
        taints: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', effect: 'NoSchedule' },
        ],
      },
    },
    '13817973995883860161',
  ],
  [
    {
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [],
        expireAfter: '720h',
        taints: [{ key: 'a', effect: 'NoSchedule', timeAdded: '2024-02-03T04:05:06Z' }],
      },
    },
    '17013552388273220660',
  ],
  [
    {
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [{ key: 'k', operator: 'Exists' }],
        expireAfter: '720h',
      },
    },
    '10684441112471014376',
  ],
  [
    {
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [],
        expireAfter: '1h30m15s',
      },
    },
    '15780273222359245952',
  ],
];

function hash(template: object): string {
  return nodePoolHash({
    spec: {
      template: template as NodePoolTemplate,
      disruption: { consolidateAfter: '0s', budgets: [], consolidationPolicy: 'WhenEmpty' },
    },
  });
}

describe('nodePoolHash', () => {
  it.each(VECTORS)('hashes %j to %s', (template, expected) => {
    expect(hash(template)).toBe(expected);
  });

  it('does not depend on the order of keys and list items', () => {
    const nodeClassRef = { group: 'g', kind: 'k', name: 'n' };
    const taints = [
      { key: 'a', effect: 'NoSchedule' },
      { effect: 'NoExecute', key: 'b' },
    ];
    const one = { metadata: { labels: { x: '1', y: '2' } }, spec: { nodeClassRef, requirements: [], taints } };
    const other = {
      spec: { taints: taints.toReversed(), requirements: [], nodeClassRef },
      metadata: { labels: { y: '2', x: '1' } },
    };
    expect(hash(one)).toBe(hash(other));
    expect(hash({ ...one, metadata: { labels: { x: '2', y: '1' } } })).not.toBe(hash(one));
  });
});
