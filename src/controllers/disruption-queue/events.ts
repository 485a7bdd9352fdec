import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import type { Notices } from '../world/notices.ts';

export function launching(events: Notices, claim: NodeClaim, reason: string): void {
  events.publish({
    object: claim,
    kind: Kinds.NodeClaim,
    notice: { kind: 'replacement-launching', reason },
    dedupeValues: [claim.metadata.uid ?? claim.metadata.name, reason],
  });
}

export function waitingOnReadiness(events: Notices, claim: NodeClaim): void {
  events.publish({
    object: claim,
    kind: Kinds.NodeClaim,
    notice: { kind: 'replacement-not-ready' },
    dedupeValues: [claim.metadata.uid ?? claim.metadata.name],
  });
}

export function terminating(events: Notices, { node, claim }: NodeView, reason: string): void {
  const halves = [
    ...(node ? [{ object: node, kind: Kinds.Node }] : []),
    ...(claim ? [{ object: claim, kind: Kinds.NodeClaim }] : []),
  ];
  for (const { object, kind } of halves) {
    events.publish({
      object,
      kind,
      notice: { kind: 'disrupting', object: kind.kind, reason },
      dedupeValues: [object.metadata.uid ?? object.metadata.name, reason],
    });
  }
}
