import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Labels } from '../../api/labels.ts';
import { podList } from '../../ledger/podList.ts';
import type { RemovalRecord } from '../../ledger/record.ts';
import { podKey } from '../../pods/podKey.ts';
import { isReschedulable } from '../../pods/podPredicates.ts';
import type { World } from '../world/world.ts';

/** Records in the ledger that a loop has deleted the claim, and why. */
export function noteRemoval(
  { ledger, cluster }: Pick<World, 'ledger' | 'cluster'>,
  { metadata, status }: NodeClaim,
  why: Pick<RemovalRecord, 'reason' | 'condition'>,
): void {
  const nodePool = metadata.labels?.[Labels.nodePool];
  const pods = cluster.viewOf(metadata.name)?.pods.filter(isReschedulable) ?? [];
  ledger.append({
    kind: 'removal',
    nodeClaim: metadata.name,
    ...(nodePool !== undefined && { nodePool }),
    ...(status?.nodeName !== undefined && { node: status.nodeName }),
    ...why,
    pods: podList(pods.map(podKey)),
  });
}
