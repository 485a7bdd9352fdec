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

it.each([
  ['v1.36.3', '1.36.3', undefined],
  ['v1.36.3', '1.36.3-nodewright', undefined],
  ['v1.36.3-hotfix.1', '1.36.3', undefined],
  ['v1.36.2', '1.36.3', 'K8sVersionDrift'],
  ['v1.35.9-akslts', '1.36.3-akslts', 'K8sVersionDrift'],
])('a kubelet %s under a class at %s: %s', (kubelet, version, expected) => {
  expect(driftOf(claim, at(version), running(kubelet), { kubeletIdentityClientId: '' })).toBe(expected);
});
