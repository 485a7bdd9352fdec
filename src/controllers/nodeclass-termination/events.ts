import { Kinds } from '../../api/kinds.ts';
import type { AksNodeClass } from '../../api/kinds/aksNodeClass.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { Notices } from '../world/notices.ts';

export function waitingOnNodeClaims(events: Notices, nodeClass: AksNodeClass, claims: readonly NodeClaim[]): void {
  events.publish({
    object: nodeClass,
    kind: Kinds.AKSNodeClass,
    notice: { kind: 'claims-remain', nodeClaims: claims.map(({ metadata }) => metadata.name) },
    dedupeValues: [nodeClass.metadata.uid ?? nodeClass.metadata.name],
  });
}
