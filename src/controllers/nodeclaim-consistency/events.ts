import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { ResourceShortfall } from '../../ledger/notice.ts';
import type { Notices } from '../world/notices.ts';

export function failedConsistencyCheck(events: Notices, claim: NodeClaim, shortfall: ResourceShortfall): void {
  const { resource, expected, found } = shortfall;
  events.publish({
    object: claim,
    kind: Kinds.NodeClaim,
    notice: { kind: 'resource-shortfall', shortfall },
    dedupeValues: [claim.metadata.uid ?? claim.metadata.name, resource, expected, found],
  });
}
