/** Whether a claim still matches its pool: all that can be told without asking the cloud. */
import { Reasons } from '../api/conditionTypes.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Annotations, normalizeLabelKey } from '../api/labels.ts';
import { Requirements } from '../constraints/requirements.ts';

export function poolDriftReason(claim: NodeClaim, pool: NodePool): string | undefined {
  if (hasOtherHash(claim, pool)) return Reasons.nodePoolDrifted;
  return meets(claim.metadata.labels ?? {}, pool) ? undefined : Reasons.requirementsDrifted;
}

/** Compares only labels on which the pool has requirements: a node has thirty labels, most pools name three. */
function meets(labels: Readonly<Record<string, string>>, { spec }: NodePool): boolean {
  const wanted = Requirements.fromItems(spec.template.spec.requirements);
  const keys = new Set(wanted.keys());
  const named = Object.entries(labels).filter(([key]) => keys.has(normalizeLabelKey(key)));
  return Requirements.fromLabels(Object.fromEntries(named)).isCompatible(wanted);
}

/** Missing hashes, or hashes of different versions, cannot be compared. */
function hasOtherHash(claim: NodeClaim, pool: NodePool): boolean {
  const mine = claim.metadata.annotations ?? {};
  const theirs = pool.metadata.annotations ?? {};
  const { nodePoolHash: hash, nodePoolHashVersion: version } = Annotations;
  if (mine[version] === undefined || mine[version] !== theirs[version]) return false;
  return mine[hash] !== undefined && theirs[hash] !== undefined && mine[hash] !== theirs[hash];
}
