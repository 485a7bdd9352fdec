import { AKS_NODE_CLASS_HASH_VERSION, aksNodeClassHash } from '../../api/aksNodeClassHash.ts';
import { Kinds } from '../../api/kinds.ts';
import type { AksNodeClass } from '../../api/kinds/aksNodeClass.ts';
import { Annotations } from '../../api/labels.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { stampHash, type HashStamp } from '../claims/hashStamp.ts';
import { claimsOfClass } from '../nodeclass-termination/claimsOfClass.ts';
import type { World } from '../world/world.ts';

const STAMP: HashStamp = {
  hashKey: Annotations.aksNodeClassHash,
  versionKey: Annotations.aksNodeClassHashVersion,
  version: AKS_NODE_CLASS_HASH_VERSION,
};

/** Stamps each AKSNodeClass with the hash of its spec, which is used to detect drift. */
export function nodeClassHashController(world: World, nodeClasses: Informer<AksNodeClass>): Controller {
  const { cluster, kube } = world;
  return reconciler({
    ...world,
    name: 'nodeclass.hash',
    concurrency: 10,
    watches: [watch(nodeClasses)],
    reconcile: async (name) => {
      const nodeClass = nodeClasses.store.get({ name });
      if (!nodeClass) return;
      const claims = claimsOfClass(cluster.claims(), name);
      await stampHash(kube, Kinds.AKSNodeClass, nodeClass, aksNodeClassHash(nodeClass), claims, STAMP);
    },
  });
}
