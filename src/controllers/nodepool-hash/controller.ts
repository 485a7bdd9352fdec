import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { Kinds } from '../../api/kinds.ts';
import { Annotations, Labels } from '../../api/labels.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { NODE_POOL_HASH_VERSION, nodePoolHash } from '../../api/nodePoolHash.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchObject } from '../../kube/statusPatch.ts';
import { isManaged } from '../managed.ts';
import type { World } from '../world.ts';

/** Stamps each NodePool with the hash of its template, by which drift of its machines is noticed. */
export function nodePoolHashController(world: World): Controller {
  const { clock, random, log, metrics, informers, kube, cloud } = world;
  return reconciler({
    name: 'nodepool.hash',
    concurrency: 10,
    clock,
    random,
    log,
    metrics,
    watches: [watch(informers.nodePools)],
    reconcile: async (name) => {
      const pool = informers.nodePools.store.get({ name });
      if (!pool || !isManaged(pool.spec.template.spec.nodeClassRef, cloud)) return;
      const hash = nodePoolHash(pool);
      if (pool.metadata.annotations?.[Annotations.nodePoolHashVersion] !== NODE_POOL_HASH_VERSION) {
        // A new way to compute the hash must not look like a change of the template.
        const claims = [...informers.nodeClaims.store.list()].filter(
          ({ metadata: { labels, annotations } }) =>
            labels?.[Labels.nodePool] === name &&
            annotations?.[Annotations.nodePoolHashVersion] !== NODE_POOL_HASH_VERSION,
        );
        for (const claim of claims) {
          const drifted = claim.status?.conditions?.some(({ type }) => type === NodeClaimConditions.drifted) ?? false;
          await patchObject(kube, Kinds.NodeClaim, claim, stamped<NodeClaim>(claim, drifted ? undefined : hash));
        }
      }
      await patchObject(kube, Kinds.NodePool, pool, stamped(pool, hash));
    },
  });
}

function stamped<T extends KubeObject>(object: T, hash: string | undefined): T {
  const annotations = {
    ...object.metadata.annotations,
    [Annotations.nodePoolHashVersion]: NODE_POOL_HASH_VERSION,
    ...(hash !== undefined && { [Annotations.nodePoolHash]: hash }),
  };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
