import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { findCondition } from '../../api/conditions.ts';
import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';
import { patchObject } from '../../kube/statusPatch.ts';
import { settleAll } from '../world/settleAll.ts';

/** Claims stamped concurrently, so that a large cluster is taken over in seconds. */
const CONCURRENCY = 20;

/** Annotations for a hash and the version of its algorithm. */
export interface HashStamp {
  readonly hashKey: string;
  readonly versionKey: string;
  readonly version: string;
}

/**
 * Stamps an object with the hash of the spec from which its nodes are made. When the algorithm has changed since the
 * last stamp, its claims are stamped too, because a new algorithm must not look like a change of the spec. Claims that
 * have already drifted keep their old hash and stay drifted.
 */
export async function stampHash<T extends KubeObject>(
  kube: Kube,
  kind: ResourceKind<T>,
  object: T,
  hash: string,
  claims: Iterable<NodeClaim>,
  stamp: HashStamp,
): Promise<void> {
  if (object.metadata.annotations?.[stamp.versionKey] !== stamp.version) {
    const outdated = [...claims].filter(({ metadata }) => metadata.annotations?.[stamp.versionKey] !== stamp.version);
    await settleAll(outdated, CONCURRENCY, async (claim) => {
      const drifted = findCondition(claim, NodeClaimConditions.drifted) !== undefined;
      await ignoreNotFound(
        patchObject(kube, Kinds.NodeClaim, claim, stamped(claim, drifted ? undefined : hash, stamp)),
      );
    });
  }
  await patchObject(kube, kind, object, stamped(object, hash, stamp));
}

function stamped<T extends KubeObject>(object: T, hash: string | undefined, stamp: HashStamp): T {
  const annotations = {
    ...object.metadata.annotations,
    [stamp.versionKey]: stamp.version,
    ...(hash !== undefined && { [stamp.hashKey]: hash }),
  };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
