import { Kinds, type Pod } from '../../api/kinds.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';
import type { PodObjection } from '../../ledger/objection.ts';
import { objectionText } from '../../ledger/objectionText.ts';
import { reasonText } from '../../ledger/reasonText.ts';
import type { NominationRecord } from '../../ledger/record.ts';
import { nominationTargets } from '../../ledger/recordText.ts';
import type { UnplacedReason } from '../../solver/reasons.ts';

const FIVE_MINUTES = 5 * 60_000;

/** One bucket for all pods: a large backlog must not flood the API server with events. */
const NOMINATIONS = { qps: 5, burst: 10 };

export function nominated(events: EventRecorder, pod: Pod, target: Pick<NominationRecord, 'nodeClaim' | 'node'>): void {
  events.publish({
    object: pod,
    kind: Kinds.Pod,
    type: 'Normal',
    reason: 'Nominated',
    message: `Pod should schedule on: ${nominationTargets(target).join(', ')}`,
    dedupeValues: [pod.metadata.uid ?? ''],
    rateLimit: NOMINATIONS,
  });
}

export function failedScheduling(events: EventRecorder, pod: Pod, reason: UnplacedReason): void {
  failed(events, pod, reasonText(reason));
}

export function ignored(events: EventRecorder, pod: Pod, objection: PodObjection): void {
  failed(events, pod, objectionText(objection));
}

function failed(events: EventRecorder, pod: Pod, message: string): void {
  events.publish({
    object: pod,
    kind: Kinds.Pod,
    type: 'Warning',
    reason: 'FailedScheduling',
    message: `Failed to schedule pod, ${message}`,
    dedupeValues: [pod.metadata.uid ?? ''],
    dedupeWindow: FIVE_MINUTES,
  });
}

export function noCompatibleInstanceTypes(events: EventRecorder, pool: NodePool): void {
  events.publish({
    object: pool,
    kind: Kinds.NodePool,
    type: 'Warning',
    reason: 'NoCompatibleInstanceTypes',
    message: 'NodePool requirements filtered out all compatible available instance types',
    dedupeValues: [pool.metadata.uid ?? ''],
    dedupeWindow: 60_000,
  });
}
