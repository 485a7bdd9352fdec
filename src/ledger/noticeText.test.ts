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
  'unregistered-taint-missing': {},
  'resource-shortfall': { shortfall: { resource: 'cpu', expected: '4', found: '2', share: 0.5 } },
  'repair-blocked': { toleratedPercent: 20, scope: 'nodepool' },
  evicted: { cause: 'Forceful Termination' },
  'pod-deleted': { deadline: Date.UTC(2026, 0, 1), granted: 10, asked: 30 },
  'eviction-refused': { pod: 'shop/web', because: 'budget', problem: 'The disruption budget web needs 2 pods' },
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
  'replacement-launching': { reason: 'Drifted' },
  'replacement-not-ready': {},
  disrupting: { object: 'Node', reason: 'Underutilized' },
  'disruption-blocked': { kept: { cause: { kind: 'pdb', pod: 'shop/web', budgets: ['shop/web'] } } },
  unconsolidatable: { kept: { nodePool: 'default', cause: { kind: 'consolidation-disabled' } } },
  'budget-blocked': { reason: 'Empty' },
  'budget-unreadable': { index: 1, field: 'nodes', value: 'many' },
  'repair-over-budget': {},
  'consolidation-approved': { score: 1.25, threshold: 0.5, savingsShare: 0.25, disruptionShare: 0.2 },
  'consolidation-candidate': { command: 'delete: [aks-1]', savingsPerHour: 0.1234 },
  'consolidation-rejected': { command: 'delete: [aks-1]', reason: 'churn', savingsPerHour: 0.1234 },
};

it('renders each kind of notice in the form known to clients of Karpenter', () => {
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
      "Warning UnregisteredTaintMissing: Missing karpenter.sh/unregistered taint which prevents registration related race conditions on Karpenter-managed nodes",
      "Warning FailedConsistencyCheck: expected 4 of resource cpu, but found 2 (50.0% of expected)",
      "Warning NodeRepairBlocked: more than 20% nodes are unhealthy in the nodepool",
      "Normal Evicted: Evicted pod: Forceful Termination",
      "Normal Disrupted: Deleting the pod to accommodate the terminationTime 2026-01-01T00:00:00Z of the node. The pod was granted 10 seconds of grace-period of its 30 terminationGracePeriodSeconds. This bypasses the PDB of the pod and the do-not-disrupt annotation.",
      "Warning FailedDraining: Failed to drain node, evicting pod violates a PDB (Pod=shop/web): The disruption budget web needs 2 pods",
      "Normal DoNotDisruptUntil: The karpenter.sh/do-not-disrupt grace period will elapse at 2026-01-01T00:00:00Z",
      "Warning FailedDraining: Failed to drain node, 3 pods are waiting to be evicted",
      "Normal AwaitingVolumeDetachment: Awaiting deletion of bound volumeattachments (a, b, c, d, e and 2 other(s))",
      "Warning TerminationGracePeriodExpiring: All pods will be deleted by 2026-01-01T00:00:00Z",
      "Normal WaitingOnNodeClaimTermination: Waiting on NodeClaim termination for default-x1",
      "Normal Launched: Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched",
      "Normal Finalized: Finalized karpenter.sh/termination",
      "Normal DisruptionLaunching: Launching NodeClaim: Drifted",
      "Normal DisruptionWaitingReadiness: Waiting on readiness to continue disruption",
      "Normal DisruptionTerminating: Disrupting Node: Underutilized",
      "Normal DisruptionBlocked: Pdb prevents pod evictions (PodDisruptionBudget=[shop/web])",
      "Normal Unconsolidatable: NodePool "default" has consolidation disabled",
      "Normal DisruptionBlocked: No allowed disruptions for disruption reason Empty due to blocking budget",
      "Warning DisruptionBlocked: No allowed disruptions: spec.disruption.budgets[1].nodes "many" cannot be read",
      "Warning NodeRepairBlocked: No allowed disruptions for disruption reason Drifted due to blocking budget",
      "Normal ConsolidationApproved: Consolidation approved: score 1.25 >= 0.50 (k=2), saves 25.0% of cost, disrupts 20.0%",
      "Normal ConsolidationCandidate: Consolidation candidate: delete: [aks-1] (savings: $0.12)",
      "Normal ConsolidationRejected: Consolidation rejected: delete: [aks-1], reason: churn (savings: $0.12)",
    ]
  `);
});

it.each([
  [{ state: 'invalid', value: 'soon' } as const, 'InvalidDoNotDisruptAnnotation', /failed to parse "soon"/],
  [{ state: 'invalid', value: '-5m' } as const, 'InvalidDoNotDisruptAnnotation', /"-5m" must be positive/],
  [{ state: 'elapsed', end: 0 } as const, 'DoNotDisruptGracePeriodElapsed', /has elapsed/],
])('reports how do-not-disrupt was interpreted: %o', (shield, reason, part) => {
  const text = noticeText({ kind: 'shield', shield });
  expect(text.reason).toBe(reason);
  expect(text.message).toMatch(part);
});

it('truncates messages of the cloud', () => {
  const { message } = noticeText({ kind: 'launch-failed', nodeClaim: 'a', reason: 'X', problem: 'x'.repeat(9_000) });
  expect(message).toHaveLength('NodeClaim a event: '.length + 300);
});
