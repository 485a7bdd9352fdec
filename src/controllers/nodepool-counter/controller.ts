import { Kinds } from '../../api/kinds.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchStatus } from '../../kube/statusPatch.ts';
import { Quantity } from '../../units/quantity.ts';
import { addResources, formatResources, quantityOf, type Resources } from '../../units/resources.ts';
import { isManaged } from '../world/managed.ts';
import type { World } from '../world/world.ts';

/** Written even when the pool is empty. */
const ZERO: Resources = Object.fromEntries(
  ['cpu', 'memory', 'pods', 'ephemeral-storage', 'nodes'].map((resource) => [resource, Quantity.zero]),
);
const INTERVAL = 5_000;

/** Writes the number and total capacity of each NodePool's nodes to its status. */
export function nodePoolCounterController(world: World): Controller {
  const { informers, kube, cloud, cluster } = world;
  return reconciler({
    ...world,
    name: 'nodepool.counter',
    concurrency: 10,
    watches: [watch(informers.nodePools, ({ type, object }) => (type === 'added' ? [object.metadata.name] : []))],
    reconcile: async (name) => {
      const pool = informers.nodePools.store.get({ name });
      if (!pool || !isManaged(pool.spec.template.spec.nodeClassRef, cloud)) return undefined;
      const used = addResources(ZERO, cluster.poolUsage(name));
      const nodes = quantityOf(used, 'nodes').value();
      const status = { ...pool.status, nodes, resources: formatResources(used) };
      await ignoreNotFound(patchStatus(kube, Kinds.NodePool, pool, { ...pool, status }));
      return { requeueAfter: INTERVAL };
    },
  });
}
