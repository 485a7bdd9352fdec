import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';

export function failedConsistencyCheck(events: EventRecorder, claim: NodeClaim, message: string): void {
  events.publish({
    object: claim,
    kind: Kinds.NodeClaim,
    type: 'Warning',
    reason: 'FailedConsistencyCheck',
    message,
    dedupeValues: [claim.metadata.uid ?? claim.metadata.name, message],
  });
}
