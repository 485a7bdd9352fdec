/** When a claim has reached its age, and what then becomes of it. */
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Annotations } from '../../api/labels.ts';
import { Duration } from '../../units/duration.ts';

/** Milliseconds since 1970; undefined for a claim without an end. */
export function expiresAt({ metadata, spec }: NodeClaim): number | undefined {
  const { expireAfter } = spec;
  if (!expireAfter || expireAfter === 'Never') return undefined;
  return Date.parse(metadata.creationTimestamp ?? '') + Duration.parse(expireAfter).milliseconds;
}

/**
 * Whether an expired or unhealthy node goes at once, as with Karpenter. Otherwise it goes when budgets allow it. The
 * claim's own word counts before that of its pool.
 */
export function isForceful(claim: NodeClaim, pool: NodePool | undefined): boolean {
  const said = [claim, pool].map((object) => object?.metadata.annotations?.[Annotations.forcefulExpiration]);
  return (said[0] ?? said[1]) !== 'false';
}
