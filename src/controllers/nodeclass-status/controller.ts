import { Kinds } from '../../api/kinds.ts';
import type { AksNodeClass } from '../../api/kinds/aksNodeClass.ts';
import { Finalizers } from '../../api/labels.ts';
import type { AzureNodeClass } from '../../azure/nodeClass.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchObject, patchStatus } from '../../kube/statusPatch.ts';
import { claimsOfClass } from '../nodeclass-termination/claimsOfClass.ts';
import type { World } from '../world/world.ts';
import { imagesChange } from './imagesChange.ts';

/** Writes the resolved status of each AKSNodeClass: version, images, subnet, and whether they are valid. */
export function nodeClassStatusController(
  world: World,
  nodeClasses: Informer<AksNodeClass>,
  resolver: Pick<AzureNodeClass, 'reconcileStatus'>,
): Controller {
  const { kube, cluster } = world;
  return reconciler({
    ...world,
    name: 'nodeclass.status',
    concurrency: 10,
    watches: [watch(nodeClasses)],
    reconcile: async (name, { signal }) => {
      const stored = nodeClasses.store.get({ name });
      if (!stored || stored.metadata.deletionTimestamp) return undefined;
      const finalizers = [...new Set([...(stored.metadata.finalizers ?? []), Finalizers.nodeClassTermination])];
      const protectedClass = { ...stored, metadata: { ...stored.metadata, finalizers } };
      const nodeClass = await patchObject(kube, Kinds.AKSNodeClass, stored, protectedClass, { lock: true });
      const { status, requeueAfter, errors } = await resolver.reconcileStatus(nodeClass, signal);
      const change = imagesChange(nodeClass, status, claimsOfClass(cluster.claims(), name));
      await patchStatus(kube, Kinds.AKSNodeClass, nodeClass, { ...nodeClass, status }, { lock: true });
      if (change) world.ledger.append(change);
      if (errors.length > 0) throw errors[0];
      return { requeueAfter };
    },
  });
}
