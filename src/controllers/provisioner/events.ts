import { Kinds, type Pod } from '../../api/kinds.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';
import type { UnplacedReason } from '../../solver/problem.ts';

const FIVE_MINUTES = 5 * 60_000;

/** One bucket for all pods: a backlog must not drown the API server in good news. */
const NOMINATIONS = { qps: 5, burst: 10 };

export function nominated(events: EventRecorder, pod: Pod, targets: readonly string[]): void {
  events.publish({
    object: pod,
    kind: Kinds.Pod,
    type: 'Normal',
    reason: 'Nominated',
    message: `Pod should schedule on: ${targets.join(', ')}`,
    dedupeValues: [pod.metadata.uid ?? ''],
    rateLimit: NOMINATIONS,
  });
}

export function failedScheduling(events: EventRecorder, pod: Pod, reason: UnplacedReason): void {
  ignored(events, pod, describeUnplaced(reason));
}

export function ignored(events: EventRecorder, pod: Pod, message: string): void {
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

function describeUnplaced(reason: UnplacedReason): string {
  switch (reason.kind) {
    case 'unsupported':
      return `it uses ${reason.feature}, which is not supported yet`;
    case 'no-pools':
      return 'no NodePool is ready';
    case 'group':
      return `only ${reason.placeable} of the ${reason.needed} pods that group "${reason.group}" needs would find a place`;
    case 'reservation':
      return `it waits until it is known what is left of ${reason.reservations.join(', ')} in NodePool "${reason.pool}"`;
    case 'refused':
      return reason.pools.map(({ pool, detail }) => `NodePool "${pool}": ${detail}`).join('; ');
  }
}
