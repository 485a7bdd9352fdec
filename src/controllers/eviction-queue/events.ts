import { Kinds, type Pod } from '../../api/kinds.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';

export function evicted(events: EventRecorder, pod: Pod, reason: string): void {
  const message = `Evicted pod: ${reason}`;
  events.publish({
    object: pod,
    kind: Kinds.Pod,
    type: 'Normal',
    reason: 'Evicted',
    message,
    dedupeValues: [pod.metadata.name],
  });
}

export function disrupted(events: EventRecorder, pod: Pod, gracePeriodSeconds: number): void {
  const message = `Deleting the pod to accommodate the terminationTimestamp of its node; it has ${gracePeriodSeconds} s to end`;
  events.publish({
    object: pod,
    kind: Kinds.Pod,
    type: 'Normal',
    reason: 'Disrupted',
    message,
    dedupeValues: [pod.metadata.name],
  });
}

export function failedDraining(events: EventRecorder, pod: Pod, complaint: string): void {
  const node = pod.spec?.nodeName ?? '';
  events.publish({
    object: { metadata: { name: node } },
    kind: Kinds.Node,
    type: 'Warning',
    reason: 'FailedDraining',
    message: `Failed to drain node, evicting pod ${pod.metadata.namespace ?? ''}/${pod.metadata.name}: ${complaint}`,
    dedupeValues: [node],
  });
}
