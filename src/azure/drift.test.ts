import { expect, it } from 'vitest';
import type { Node } from '../api/kinds.ts';
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { driftOf } from './drift.ts';

const claim: NodeClaim = {
  metadata: { name: 'a' },
  spec: {
    nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
    requirements: [],
    expireAfter: 'Never',
  },
};
const at = (kubernetesVersion: string): AksNodeClass => ({
  metadata: { name: 'default', generation: 1 },
  spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128 },
  status: {
    kubernetesVersion,
    conditions: [
      {
        type: 'KubernetesVersionReady',
        status: 'True',
        reason: 'KubernetesVersionReady',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
        observedGeneration: 1,
      },
    ],
  },
});
const running = (kubeletVersion: string): Node =>
  ({ metadata: { name: 'n' }, status: { nodeInfo: { kubeletVersion } } }) as Node;

const unasked = async (): Promise<undefined> => undefined;

it.each([
  ['v1.36.3', '1.36.3', undefined],
  ['v1.36.3', '1.36.3-nodewright', undefined],
  ['v1.36.3-hotfix.1', '1.36.3', undefined],
  ['v1.36.2', '1.36.3', 'K8sVersionDrift'],
  ['v1.35.9-akslts', '1.36.3-akslts', 'K8sVersionDrift'],
])('a kubelet %s under a class at %s: %s', async (kubelet, version, expected) => {
  const subject = { claim, nodeClass: at(version), node: running(kubelet) };
  expect(await driftOf(subject, { kubeletIdentityClientId: '' }, unasked)).toBe(expected);
});

it.each([
  [undefined, undefined],
  ['old', 'KubeletIdentityDrift'],
  ['new', undefined],
])('a kubelet with identity %s: %s', async (identity, expected) => {
  const labels = identity === undefined ? {} : { 'kubernetes.azure.com/kubelet-identity-client-id': identity };
  const node: Node = { ...running('v1.36.3'), metadata: { name: 'n', labels } };
  const subject = { claim, nodeClass: at('1.36.3'), node };
  expect(await driftOf(subject, { kubeletIdentityClientId: 'new' }, unasked)).toBe(expected);
});

it.each([
  [undefined, undefined],
  ['Synced', undefined],
  ['Recreate', 'ClusterConfigDrift'],
  ['SomethingNew', 'ClusterConfigDrift'],
])('an AKS machine of which AKS says %s: %s', async (action, expected) => {
  const annotations = { 'karpenter.azure.com/aks-machine-resource-id': '/x/machines/a' };
  const machine: NodeClaim = { ...claim, metadata: { name: 'a', annotations } };
  const subject = { claim: machine, nodeClass: at('1.36.3'), node: running('v1.36.3') };
  expect(await driftOf(subject, { kubeletIdentityClientId: '' }, async () => action)).toBe(expected);
});
