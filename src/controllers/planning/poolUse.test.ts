import { expect, it } from 'vitest';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Labels } from '../../api/labels.ts';
import { Cluster } from '../../cluster/cluster.ts';
import { memoryInstanceType } from '../../../test/fixtures/engine/memoryCloud.ts';
import { formatResources } from '../../units/resources.ts';
import { unlaunchedNodes, usageAtMost } from './poolUse.ts';

it('counts an unlaunched node at its largest possible type', () => {
  const cluster = new Cluster();
  const types = [
    memoryInstanceType('small', 2, 1),
    memoryInstanceType('large', 8, 4),
    memoryInstanceType('huge', 64, 9),
  ];
  const claim: NodeClaim = {
    metadata: { name: 'c', uid: 'c', labels: { [Labels.nodePool]: 'default' } },
    spec: {
      nodeClassRef: { group: 'g', kind: 'k', name: 'n' },
      requirements: [{ key: Labels.instanceType, operator: 'In', values: ['small', 'large'] }],
      resources: { requests: { cpu: '1' } },
      expireAfter: 'Never',
    },
  };
  const used = (): string | undefined => {
    const unlaunched = unlaunchedNodes(cluster.snapshot().nodes).get('default') ?? [];
    return formatResources(usageAtMost(cluster.poolUsage('default'), unlaunched, types))['cpu'];
  };
  cluster.setClaim(claim);
  expect(used()).toBe('8');
  cluster.setClaim({ ...claim, status: { providerID: 'p', capacity: { cpu: '2' }, allocatable: { cpu: '2' } } });
  expect(used()).toBe('2');
});
