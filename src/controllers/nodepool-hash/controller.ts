import { Kinds } from '../../api/kinds.ts';
import { Annotations, Labels } from '../../api/labels.ts';
import { NODE_POOL_HASH_VERSION, nodePoolHash } from '../../api/nodePoolHash.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { stampHash, type HashStamp } from '../claims/hashStamp.ts';
import { isManaged } from '../world/managed.ts';
import type { World } from '../world/world.ts';

const STAMP: HashStamp = {
  hashKey: Annotations.nodePoolHash,
  versionKey: Annotations.nodePoolHashVersion,
  version: NODE_POOL_HASH_VERSION,
};

/** Stamps each NodePool with the hash of its template, which is used to detect drift. */
export function nodePoolHashController(world: World): Controller {
  const { informers, cluster, kube, cloud } = world;
  return reconciler({
    ...world,
    name: 'nodepool.hash',
    concurrency: 10,
    watches: [watch(informers.nodePools)],
    reconcile: async (name) => {
      const pool = informers.nodePools.store.get({ name });
      if (!pool || !isManaged(pool.spec.template.spec.nodeClassRef, cloud)) return;
      const claims = [...cluster.claims()].filter(({ metadata }) => metadata.labels?.[Labels.nodePool] === name);
      await stampHash(kube, Kinds.NodePool, pool, nodePoolHash(pool), claims, STAMP);
    },
  });
}
