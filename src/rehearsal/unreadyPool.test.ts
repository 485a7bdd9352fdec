import { describe, expect, it } from 'vitest';
import { Kinds } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import type { KubeObject } from '../api/object.ts';
import { kindKey, type ClusterObjects } from './clusterObjects.ts';
import { unreadyPool } from './unreadyPool.ts';

const TARGET = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'web' };

function poolOf(status: 'True' | 'False', nodeClassReady = status): NodePool {
  const conditions = [
    { type: 'Ready', status, reason: 'UnhealthyDependents', lastTransitionTime: '' },
    { type: 'NodeClassReady', status: nodeClassReady, reason: 'NodeClassNotFound', lastTransitionTime: '' },
  ];
  const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'gone' };
  const spec = { template: { spec: { nodeClassRef, requirements: [], expireAfter: 'Never' } }, disruption: {} };
  return { metadata: { name: 'web' }, spec, status: { conditions } } as unknown as NodePool;
}

const nodeClass = (name: string, status: string): KubeObject =>
  ({ metadata: { name }, status: { conditions: [{ type: 'Ready', status }] } }) as unknown as KubeObject;

const having = (...classes: readonly KubeObject[]): ClusterObjects => ({
  time: 0,
  kinds: new Map([[kindKey(Kinds.AKSNodeClass), classes]]),
});

describe('a NodePool that is not ready', () => {
  it('may use another ready class, or gets the one that it names', () => {
    const found = unreadyPool(having(nodeClass('bad', 'False'), nodeClass('default', 'True')), poolOf('False'), TARGET);
    expect(found?.fixes).toEqual([
      {
        sentence: 'make it use AKSNodeClass "default", which is ready',
        patches: [
          {
            target: TARGET,
            type: 'merge',
            patch: { spec: { template: { spec: { nodeClassRef: { name: 'default' } } } } },
          },
        ],
      },
      { sentence: 'create AKSNodeClass "gone", to which it refers and which does not exist', patches: [] },
    ]);
  });

  it('gets advice on what to repair when no other class is ready', () => {
    const found = unreadyPool(having(nodeClass('gone', 'False')), poolOf('False'), TARGET);
    expect(found?.fixes.map(({ sentence }) => sentence)).toEqual([
      'make AKSNodeClass "gone" ready: its conditions say what it lacks',
    ]);
  });

  it('gets advice on where to look when its class is not the cause', () => {
    const found = unreadyPool(having(), poolOf('False', 'True'), TARGET);
    expect(found).toMatchObject({ check: 'pool-not-ready', severity: 'error' });
    expect(found?.fixes[0]?.sentence).toContain('conditions of NodePool "web"');
  });

  it('is not reported when it is ready', () => {
    expect(unreadyPool(having(), poolOf('True'), TARGET)).toBeUndefined();
  });
});
