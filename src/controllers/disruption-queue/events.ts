import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { halvesOf } from '../world/halvesOf.ts';
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

export function terminating(events: Notices, view: NodeView, reason: string): void {
  for (const { object, kind } of halvesOf(view)) {
    events.publish({
      object,
      kind,
      notice: { kind: 'disrupting', object: kind.kind, reason },
      dedupeValues: [object.metadata.uid ?? object.metadata.name, reason],
    });
  }
}
