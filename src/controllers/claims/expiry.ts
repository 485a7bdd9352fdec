/** When a claim expires, and how it is then removed. */
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Annotations } from '../../api/labels.ts';
import { Duration } from '../../units/duration.ts';

/** Milliseconds since 1970; undefined if the claim never expires. */
export function expiresAt({ metadata, spec }: NodeClaim): number | undefined {
  const { expireAfter } = spec;
  if (!expireAfter || expireAfter === 'Never') return undefined;
  return Date.parse(metadata.creationTimestamp ?? '') + Duration.parse(expireAfter).milliseconds;
}

/**
 * Whether an expired or unhealthy node is removed at once, as with Karpenter. Otherwise budgets apply. The claim's own
 * annotation takes precedence over its pool's.
 */
export function isForceful(claim: NodeClaim, pool: NodePool | undefined): boolean {
  const said = [claim, pool].map((object) => object?.metadata.annotations?.[Annotations.forcefulExpiration]);
  return (said[0] ?? said[1]) !== 'false';
}
