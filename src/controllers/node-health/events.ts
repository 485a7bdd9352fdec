import { Kinds, type Node } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import type { Notice } from '../../ledger/notice.ts';
import type { Notices } from '../world/notices.ts';

const DEDUPE = 15 * 60_000;

interface RepairSubject {
  readonly node: Node;
  readonly claim: NodeClaim;
  readonly pool: NodePool | undefined;
}

/** Why a node is not repaired. */
export type RepairObstacle = Extract<Notice, { kind: 'repair-blocked' | 'repair-over-budget' }>;

/** One event for each of the three objects; upstream publishes all three on the Node. */
export function nodeRepairBlocked(events: Notices, { node, claim, pool }: RepairSubject, notice: RepairObstacle): void {
  const publish = (kind: ResourceKind<KubeObject>, object: KubeObject): void =>
    events.publish({
      object,
      kind,
      notice,
      dedupeValues: [object.metadata.uid ?? object.metadata.name],
      dedupeWindow: DEDUPE,
    });
  publish(Kinds.Node, node);
  publish(Kinds.NodeClaim, claim);
  if (pool) publish(Kinds.NodePool, pool);
}
