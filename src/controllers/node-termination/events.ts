import { Kinds, type Node } from '../../api/kinds.ts';
import type { Notice } from '../../ledger/notice.ts';
import type { Notices } from '../world/notices.ts';

export function podsStillWaiting(events: Notices, node: Node, count: number): void {
  tell(events, node, { kind: 'pods-to-evict', count });
}

export function awaitingVolumeDetachment(events: Notices, node: Node, attachments: readonly string[]): void {
  tell(events, node, { kind: 'volumes-attached', attachments });
}

export function terminationGracePeriodExpiring(events: Notices, node: Node, deadline: string): void {
  tell(events, node, { kind: 'deadline', deadline });
}

function tell(events: Notices, node: Node, notice: Notice): void {
  events.publish({ object: node, kind: Kinds.Node, notice, dedupeValues: [node.metadata.name] });
}
