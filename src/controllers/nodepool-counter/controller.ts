import { Kinds } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchStatus } from '../../kube/statusPatch.ts';
import { Quantity } from '../../units/quantity.ts';
import { addResources, formatResources, type Resources } from '../../units/resources.ts';
import { isManaged } from '../managed.ts';
import type { World } from '../world.ts';

/** Present even when the pool is empty. */
const ALWAYS_COUNTED = ['cpu', 'memory', 'pods', 'ephemeral-storage', 'nodes'];

/** Writes on each NodePool how much capacity its machines add up to. */
export function nodePoolCounterController(world: World): Controller {
  const { informers, kube, cloud, cluster } = world;
  const poolOf = ({ object }: { object: { metadata: { labels?: Record<string, string> } } }): string[] => {
    const pool = object.metadata.labels?.[Labels.nodePool];
    return pool === undefined ? [] : [pool];
  };
  return reconciler({
    ...world,
    name: 'nodepool.counter',
    concurrency: 10,
    watches: [watch(informers.nodePools), watch(informers.nodeClaims, poolOf), watch(informers.nodes, poolOf)],
    reconcile: async (name) => {
      const pool = informers.nodePools.store.get({ name });
      if (!pool || !isManaged(pool.spec.template.spec.nodeClassRef, cloud)) return;
      const zero: Resources = Object.fromEntries(ALWAYS_COUNTED.map((resource) => [resource, Quantity.zero]));
      const machines = cluster.snapshot().nodes.filter(({ nodePool, deleting }) => nodePool === name && !deleting);
      const total = addResources(zero, ...machines.map(({ capacity }) => capacity), {
        nodes: Quantity.fromValue(machines.length),
      });
      const status = { ...pool.status, nodes: machines.length, resources: formatResources(total) };
      await patchStatus(kube, Kinds.NodePool, pool, { ...pool, status });
    },
  });
}
