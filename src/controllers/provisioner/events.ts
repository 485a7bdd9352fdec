import { Kinds, type Pod } from '../../api/kinds.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { PodObjection } from '../../ledger/objection.ts';
import type { NominationRecord } from '../../ledger/record.ts';
import type { UnplacedReason } from '../../solver/reasons.ts';
import type { Notices } from '../world/notices.ts';

const FIVE_MINUTES = 5 * 60_000;

/** One bucket for all pods: a large backlog must not flood the API server with events. */
const NOMINATIONS = { qps: 5, burst: 10 };

export function nominated(events: Notices, pod: Pod, target: Pick<NominationRecord, 'nodeClaim' | 'node'>): void {
  const notice = { kind: 'nominated', ...target } as const;
  events.publish({ ...about(pod), notice, rateLimit: NOMINATIONS });
}

export function failedScheduling(events: Notices, pod: Pod, reason: UnplacedReason): void {
  events.publish({ ...about(pod), notice: { kind: 'unschedulable', reason }, dedupeWindow: FIVE_MINUTES });
}

export function ignored(events: Notices, pod: Pod, objection: PodObjection): void {
  events.publish({ ...about(pod), notice: { kind: 'ignored', objection }, dedupeWindow: FIVE_MINUTES });
}

export function noCompatibleInstanceTypes(events: Notices, pool: NodePool): void {
  events.publish({
    object: pool,
    kind: Kinds.NodePool,
    notice: { kind: 'no-instance-types' },
    dedupeValues: [pool.metadata.uid ?? ''],
    dedupeWindow: 60_000,
  });
}

function about(pod: Pod) {
  return { object: pod, kind: Kinds.Pod, dedupeValues: [pod.metadata.uid ?? ''] };
}
