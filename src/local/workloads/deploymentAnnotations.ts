/** Annotations of a Deployment's ReplicaSets, which `kubectl rollout history` and `undo` read. */
import type { Deployment, ReplicaSet } from '../../api/kinds.ts';
import { rolloutBounds } from './rollout.ts';

export const REVISION = 'deployment.kubernetes.io/revision';
const HISTORY = 'deployment.kubernetes.io/revision-history';
const DESIRED = 'deployment.kubernetes.io/desired-replicas';
const MOST = 'deployment.kubernetes.io/max-replicas';
/** Annotations that are not copied. */
const OWN = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  REVISION,
  HISTORY,
  DESIRED,
  MOST,
]);
const LONGEST_HISTORY = 100;

type Annotations = Record<string, string>;

export const revisionOf = ({ metadata }: ReplicaSet): number => Number(metadata.annotations?.[REVISION] ?? 0);

/** Compares by revision, oldest first. */
export const byRevision = (left: ReplicaSet, right: ReplicaSet): number => revisionOf(left) - revisionOf(right);

/** Returns the desired and maximum numbers of pods, with which later sizes are compared. */
export function sizeAnnotations(deployment: Deployment): Annotations {
  const { replicas = 1 } = deployment.spec ?? {};
  return { [DESIRED]: String(replicas), [MOST]: String(replicas + rolloutBounds(deployment).maxSurge) };
}

/** Returns the missing annotations of the current ReplicaSet: those of the Deployment, and the next revision. */
export function copiedAnnotations(
  { metadata }: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Annotations {
  const known = current?.metadata.annotations ?? {};
  const copied: Annotations = Object.fromEntries(
    Object.entries(metadata.annotations ?? {}).filter(([key, value]) => !OWN.has(key) && known[key] !== value),
  );
  const next = Math.max(0, ...old.map(revisionOf)) + 1;
  const before = known[REVISION];
  if (Number(before ?? 0) >= next) return copied;
  copied[REVISION] = String(next);
  // A rollback: the ReplicaSet already had a revision.
  if (before !== undefined) {
    const history = [...(known[HISTORY]?.split(',') ?? []), before];
    copied[HISTORY] = history.slice(-LONGEST_HISTORY).join(',');
  }
  return copied;
}
