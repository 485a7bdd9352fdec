import { Kinds } from '../../api/kinds.ts';
import type { AksNodeClass } from '../../api/kinds/aksNodeClass.ts';
import { Finalizers } from '../../api/labels.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchObject } from '../../kube/statusPatch.ts';
import type { World } from '../world/world.ts';
import { claimsOfClass } from './claimsOfClass.ts';
import { waitingOnNodeClaims } from './events.ts';

const RETRY = 10 * 60_000;

/** Removes the finalizer of a deleted AKSNodeClass once no NodeClaim uses it. */
export function nodeClassTerminationController(world: World, nodeClasses: Informer<AksNodeClass>): Controller {
  const { informers, cluster, kube, events } = world;
  return reconciler({
    ...world,
    name: 'nodeclass.termination',
    concurrency: 10,
    watches: [
      watch(nodeClasses),
      watch(informers.nodeClaims, ({ type, object }) => (type === 'deleted' ? [object.spec.nodeClassRef.name] : [])),
    ],
    reconcile: async (name) => {
      const nodeClass = nodeClasses.store.get({ name });
      const { deletionTimestamp, finalizers = [] } = nodeClass?.metadata ?? {};
      if (!nodeClass || !deletionTimestamp || !finalizers.includes(Finalizers.nodeClassTermination)) return undefined;
      const claims = claimsOfClass(cluster.claims(), name);
      if (claims.length > 0) {
        waitingOnNodeClaims(events, nodeClass, claims);
        return { requeueAfter: RETRY };
      }
      const remaining = finalizers.filter((finalizer) => finalizer !== Finalizers.nodeClassTermination);
      const released = { ...nodeClass, metadata: { ...nodeClass.metadata, finalizers: remaining } };
      await ignoreNotFound(patchObject(kube, Kinds.AKSNodeClass, nodeClass, released, { lock: true }));
      return undefined;
    },
  });
}
