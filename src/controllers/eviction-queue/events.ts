import { Kinds, type Node, type Pod } from '../../api/kinds.ts';
import type { DisruptionShield } from '../../pods/doNotDisrupt.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';
import { timestamp } from '../../units/timestamp.ts';

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

export function failedDraining(events: EventRecorder, pod: Pod, node: Node | undefined, problem: string): void {
  const name = pod.spec?.nodeName ?? '';
  events.publish({
    object: node ?? { metadata: { name } },
    kind: Kinds.Node,
    type: 'Warning',
    reason: 'FailedDraining',
    message: `Failed to drain node, evicting pod ${pod.metadata.namespace ?? ''}/${pod.metadata.name}: ${problem}`,
    // Apart from the count of waiting pods, which has the same reason and would hide this one.
    dedupeValues: [name, 'eviction'],
  });
}

/** How a do-not-disrupt annotation was read; no event for the plain value "true". */
export function disruptionShield(events: EventRecorder, pod: Pod, shield: DisruptionShield): void {
  const uid = pod.metadata.uid ?? pod.metadata.name;
  const about = { object: pod, kind: Kinds.Pod };
  if (shield.state === 'invalid') {
    const message = `Annotation karpenter.sh/do-not-disrupt is ignored: "${shield.value}" is neither "true" nor a positive duration`;
    const reason = 'InvalidDoNotDisruptAnnotation';
    events.publish({ ...about, type: 'Warning', reason, message, dedupeValues: [uid, message] });
  } else if (shield.state === 'until' && shield.end !== undefined) {
    const end = timestamp(shield.end);
    const message = `Pod is protected from disruption until ${end}`;
    events.publish({ ...about, type: 'Normal', reason: 'DoNotDisruptUntil', message, dedupeValues: [uid, end] });
  } else if (shield.state === 'elapsed') {
    const message = `Protection from disruption ended at ${timestamp(shield.end)}`;
    const reason = 'DoNotDisruptGracePeriodElapsed';
    events.publish({ ...about, type: 'Normal', reason, message, dedupeValues: [uid] });
  }
}
