import { expect, it } from 'vitest';
import type { Notice } from './notice.ts';
import { noticeText } from './noticeText.ts';

/** One of each kind: the type fails when a kind is added and not shown here. */
const EXAMPLES: { readonly [Kind in Notice['kind']]: Omit<Extract<Notice, { kind: Kind }>, 'kind'> } = {
  nominated: { nodeClaim: 'default-x1', node: 'aks-1' },
  unschedulable: { reason: { kind: 'no-pools', nodes: [] } },
  ignored: { objection: { kind: 'volume-claim', claim: 'data', problem: 'missing' } },
  'no-instance-types': {},
  'insufficient-capacity': { nodeClaim: 'default-x1', problem: 'sold out' },
  'node-class-not-ready': { nodeClaim: 'default-x1', problem: 'no image' },
  'launch-failed': { nodeClaim: 'default-x1', reason: 'SubscriptionQuotaReached', problem: 'quota' },
  'node-class-missing': { problem: 'not found' },
  'accepted-launch-failed': { problem: 'late' },
  'unregistered-taint-missing': { node: 'aks-1' },
  'resource-shortfall': { shortfall: { resource: 'cpu', expected: '4', found: '2', share: 0.5 } },
  'repair-blocked': { toleratedPercent: 20, scope: 'nodepool' },
  evicted: { cause: 'Forceful Termination' },
  'pod-deleted': { gracePeriodSeconds: 30 },
  'eviction-refused': { pod: 'shop/web', problem: 'disruption budget web needs 2 pods' },
  shield: { shield: { state: 'until', end: Date.UTC(2026, 0, 1) } },
  'pods-to-evict': { count: 3 },
  'volumes-attached': { attachments: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] },
  deadline: { deadline: '2026-01-01T00:00:00Z' },
  'claims-remain': { nodeClaims: ['default-x1'] },
  'condition-changed': {
    before: 'Unknown',
    condition: { type: 'Launched', status: 'True', reason: 'Launched', message: '', lastTransitionTime: '' },
  },
  finalized: { finalizer: 'karpenter.sh/termination' },
};

it('says each kind of notice as clients of Karpenter know it', () => {
  const texts = Object.entries(EXAMPLES).map(([kind, data]) => noticeText({ kind, ...data } as Notice));
  expect(texts.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)).toMatchInlineSnapshot(`
    [
      "Normal Nominated: Pod should schedule on: nodeclaim/default-x1, node/aks-1",
      "Warning FailedScheduling: Failed to schedule pod, no NodePool is ready",
      "Warning FailedScheduling: Failed to schedule pod, PersistentVolumeClaim "data" does not exist",
      "Warning NoCompatibleInstanceTypes: NodePool requirements filtered out all compatible available instance types",
      "Warning InsufficientCapacityError: NodeClaim default-x1 event: sold out",
      "Warning NodeClassNotReady: NodeClaim default-x1 event: no image",
      "Warning SubscriptionQuotaReached: NodeClaim default-x1 event: quota",
      "Warning NodeClassResolutionError: not found",
      "Warning AsyncProvisioningError: Failed to register: late",
      "Warning UnregisteredTaintMissing: Node aks-1 joined without the taint karpenter.sh/unregistered:NoExecute, so pods may run on it before it is set up",
      "Warning FailedConsistencyCheck: expected 4 of resource cpu, but found 2 (50.0% of expected)",
      "Warning NodeRepairBlocked: more than 20% nodes are unhealthy in the nodepool",
      "Normal Evicted: Evicted pod: Forceful Termination",
      "Normal Disrupted: Deleting the pod to accommodate the terminationTimestamp of its node; it has 30 s to end",
      "Warning FailedDraining: Failed to drain node, evicting pod shop/web: disruption budget web needs 2 pods",
      "Normal DoNotDisruptUntil: Pod is protected from disruption until 2026-01-01T00:00:00Z",
      "Warning FailedDraining: Failed to drain node, 3 pods are waiting to be evicted",
      "Normal AwaitingVolumeDetachment: Awaiting deletion of VolumeAttachments: a, b, c, d, e and 2 others",
      "Warning TerminationGracePeriodExpiring: All pods will be deleted by 2026-01-01T00:00:00Z",
      "Normal WaitingOnNodeClaimTermination: Waiting on NodeClaim termination for default-x1",
      "Normal Launched: Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched",
      "Normal Finalized: Finalized karpenter.sh/termination",
    ]
  `);
});

it.each([
  [{ state: 'invalid', value: 'soon' } as const, 'InvalidDoNotDisruptAnnotation', '"soon"'],
  [{ state: 'elapsed', end: 0 } as const, 'DoNotDisruptGracePeriodElapsed', '1970-01-01T00:00:00Z'],
])('tells how do-not-disrupt was read: %o', (shield, reason, part) => {
  expect(noticeText({ kind: 'shield', shield })).toMatchObject({ reason, message: expect.stringContaining(part) });
});

it('cuts what the cloud says', () => {
  const { message } = noticeText({ kind: 'launch-failed', nodeClaim: 'a', reason: 'X', problem: 'x'.repeat(9_000) });
  expect(message).toHaveLength('NodeClaim a event: '.length + 300);
});
