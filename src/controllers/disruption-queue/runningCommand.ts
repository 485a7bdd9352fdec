import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { findCondition } from '../../api/conditions.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { isPendingDisruption } from '../claims/isPendingDisruption.ts';
import { stampOf, type CommandStamp } from './commandStamp.ts';

/** A node to be removed. */
export interface Leaving {
  readonly view: NodeView;
  readonly claim: NodeClaim;
  readonly pool: string;
  /** Whether its deletion has been requested. */
  deleted: boolean;
}

/** A command in progress. */
export interface RunningCommand {
  readonly id: string;
  readonly reason: string;
  readonly consolidationType: string;
  readonly since: number;
  readonly leaving: readonly Leaving[];
  /** Replacements not yet known to be initialized, by claim name. */
  readonly awaited: Map<string, NodeClaim>;
  readonly replacements: number;
}

/** Marks are written before replacements, and the API server's timestamps have a resolution of one second. */
const CLOCK_STEP = 1_000;
const { disruptionReason } = NodeClaimConditions;

/** Commands that, according to claims, were started and not finished. One that lacks a replacement has failed. */
export function unfinishedCommands(cluster: Cluster, isKnown: (id: string) => boolean): readonly RunningCommand[] {
  const groups = new Map<string, { readonly stamp: CommandStamp; readonly claims: NodeClaim[] }>();
  for (const claim of cluster.claims()) {
    const stamp = stampOf(claim);
    if (stamp === undefined || isKnown(stamp.id) || claim.metadata.deletionTimestamp) continue;
    const known = groups.get(stamp.id);
    if (known === undefined) groups.set(stamp.id, { stamp, claims: [claim] });
    else known.claims.push(claim);
  }
  return [...groups.values()].flatMap(({ stamp, claims }) => {
    const running = claims.length === stamp.replacements ? unfinished(cluster, stamp, claims) : undefined;
    return running === undefined ? [] : [running];
  });
}

function unfinished(cluster: Cluster, stamp: CommandStamp, claims: readonly NodeClaim[]): RunningCommand | undefined {
  const since = Math.min(...claims.map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '')));
  const leaving = stamp.candidates.flatMap((name): Leaving[] => {
    const view = cluster.viewOf(name);
    const claim = view?.claim;
    if (!claim || claim.metadata.deletionTimestamp || !isPendingDisruption(claim)) return [];
    // A later command may have marked it again.
    const markedAt = Date.parse(findCondition(claim, disruptionReason)?.lastTransitionTime ?? '');
    return markedAt > since + CLOCK_STEP ? [] : [{ view, claim, pool: view.nodePool ?? '', deleted: false }];
  });
  const reason = leaving[0] && findCondition(leaving[0].claim, disruptionReason)?.reason;
  if (reason === undefined) return undefined;
  return {
    id: stamp.id,
    reason,
    consolidationType: stamp.consolidationType,
    since,
    leaving,
    awaited: new Map(claims.map((claim) => [claim.metadata.name, claim])),
    replacements: claims.length,
  };
}
