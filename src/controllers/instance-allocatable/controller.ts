import type { LearnedAllocatable } from '../../catalogue/learnedAllocatable.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import type { World } from '../world/world.ts';

/** Learns the real allocatable resources of instance types from joined nodes, for later plans. */
export function instanceAllocatableController(world: World, learned: LearnedAllocatable): Controller {
  const { cluster, informers } = world;
  return reconciler({
    ...world,
    name: 'instance.allocatable',
    concurrency: 1,
    watches: [watch(informers.nodes)],
    reconcile: async (name) => {
      const node = cluster.node(name);
      if (node === undefined) learned.forget(name);
      const claim = cluster.claimByProviderID(node?.spec?.providerID);
      if (node !== undefined && claim !== undefined) learned.learn(claim, node);
      return undefined;
    },
  });
}
