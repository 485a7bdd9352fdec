import { Kinds, type Node } from '../../api/kinds.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';

export function podsStillWaiting(events: EventRecorder, node: Node, count: number): void {
  events.publish({
    object: node,
    kind: Kinds.Node,
    type: 'Warning',
    reason: 'FailedDraining',
    message: `Failed to drain node, ${count} pods are waiting to be evicted`,
    dedupeValues: [node.metadata.name],
  });
}

export function awaitingVolumeDetachment(events: EventRecorder, node: Node, attachments: readonly string[]): void {
  const names = attachments.slice(0, 5).join(', ');
  const more = attachments.length > 5 ? ` and ${attachments.length - 5} others` : '';
  events.publish({
    object: node,
    kind: Kinds.Node,
    type: 'Normal',
    reason: 'AwaitingVolumeDetachment',
    message: `Awaiting deletion of VolumeAttachments: ${names}${more}`,
    dedupeValues: [node.metadata.name],
  });
}

export function terminationGracePeriodExpiring(events: EventRecorder, node: Node, deadline: string): void {
  events.publish({
    object: node,
    kind: Kinds.Node,
    type: 'Warning',
    reason: 'TerminationGracePeriodExpiring',
    message: `All pods will be deleted by ${deadline}`,
    dedupeValues: [node.metadata.name],
  });
}
