import { expect, it } from 'vitest';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { bundledInstanceTypes } from '../catalogue/bundledCatalogue.ts';
import { machineLabels } from './nodeLabels.ts';

it('leaves out of an AKS machine what AKS and kubelets set themselves, and nothing else', () => {
  const type = bundledInstanceTypes({ region: 'eastus' }).find(({ name }) => name === 'Standard_D2s_v3');
  const offering = type?.offerings[0];
  if (type === undefined || offering === undefined) throw new Error('There is no Standard_D2s_v3.');
  const kept = {
    team: 'a',
    'example.com/x': 'y',
    'node.kubernetes.io/ok': 'yes',
    'kubelet.kubernetes.io/ok': 'yes',
    'sub.node.kubernetes.io/ok': 'yes',
    'sub.kubernetes.azure.com/y': '1',
    'notkubernetes.io/a': 'b',
  };
  const dropped = {
    agentpool: 'x',
    accelerator: 'n',
    'kubernetes.azure.com/ebpf-dataplane': 'cilium',
    'kubernetes.io/foo': 'bar',
    'k8s.io/no': 'x',
    'node-restriction.kubernetes.io/z': '1',
    'beta.kubernetes.io/arch': 'amd64',
    'topology.kubernetes.io/zone': 'eastus-1',
  };
  const claim: NodeClaim = {
    metadata: { name: 'pool-1', labels: { ...kept, ...dropped } },
    spec: {
      nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
      requirements: [],
      expireAfter: 'Never',
    },
  };
  const nodeClass = { metadata: { name: 'default' } };
  const labels = machineLabels({ claim, nodeClass, type, offering, kubernetesVersion: '1.33.5' });
  expect(labels).toMatchObject(kept);
  expect(Object.keys(dropped).filter((key) => key in labels)).toEqual([]);
});
