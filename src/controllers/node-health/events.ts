import { Kinds, type Node } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import type { EventRecorder } from '../../kube/eventRecorder.ts';

const DEDUPE = 15 * 60_000;

interface Concerned {
  readonly node: Node;
  readonly claim: NodeClaim;
  readonly pool: NodePool | undefined;
}

/** Each of those concerned is told once: upstream tells the Node three times. */
export function nodeRepairBlocked(events: EventRecorder, { node, claim, pool }: Concerned, message: string): void {
  const tell = (kind: ResourceKind<KubeObject>, object: KubeObject): void =>
    events.publish({
      object,
      kind,
      type: 'Warning',
      reason: 'NodeRepairBlocked',
      message,
      dedupeValues: [object.metadata.uid ?? object.metadata.name],
      dedupeWindow: DEDUPE,
    });
  tell(Kinds.Node, node);
  tell(Kinds.NodeClaim, claim);
  if (pool) tell(Kinds.NodePool, pool);
}
