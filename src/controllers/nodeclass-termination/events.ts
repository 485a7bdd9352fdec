import { Kinds } from '../../api/kinds.ts';
import type { AksNodeClass } from '../../api/kinds/aksNodeClass.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';

const NAMES_SHOWN = 5;

export function waitingOnNodeClaims(
  events: EventRecorder,
  nodeClass: AksNodeClass,
  claims: readonly NodeClaim[],
): void {
  const names = claims.slice(0, NAMES_SHOWN).map(({ metadata }) => metadata.name);
  const more = claims.length > NAMES_SHOWN ? ` and ${claims.length - NAMES_SHOWN} others` : '';
  events.publish({
    object: nodeClass,
    kind: Kinds.AKSNodeClass,
    type: 'Normal',
    reason: 'WaitingOnNodeClaimTermination',
    message: `Waiting on NodeClaim termination for ${names.join(', ')}${more}`,
    dedupeValues: [nodeClass.metadata.uid ?? nodeClass.metadata.name],
  });
}
