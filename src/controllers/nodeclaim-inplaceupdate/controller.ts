import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { findCondition } from '../../api/conditions.ts';
import { Kinds } from '../../api/kinds.ts';
import type { AksNodeClass } from '../../api/kinds/aksNodeClass.ts';
import { Annotations } from '../../api/labels.ts';
import type { InPlaceUpdates } from '../../azure/inPlaceUpdates.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchObject } from '../../kube/statusPatch.ts';
import { claimsOfClass } from '../nodeclass-termination/claimsOfClass.ts';
import type { World } from '../world/world.ts';

/** Retry interval for an instance whose node has not joined yet. */
const UNREGISTERED_RETRY = 60_000;

/** Updates tags and identities of running instances to match their AKSNodeClass and the options. */
export function nodeClaimInPlaceUpdateController(
  world: World,
  nodeClasses: Informer<AksNodeClass>,
  updates: Pick<InPlaceUpdates, 'hashFor' | 'isCurrent' | 'apply'>,
): Controller {
  const { cluster, kube, log } = world;
  const { group, kind } = Kinds.AKSNodeClass;
  return reconciler({
    ...world,
    name: 'nodeclaim.inplaceupdate',
    concurrency: 10,
    watches: [
      watch(world.informers.nodeClaims),
      watch(nodeClasses, ({ object }) =>
        claimsOfClass(cluster.claims(), object.metadata.name).map(({ metadata }) => metadata.name),
      ),
    ],
    reconcile: async (name, { signal }) => {
      const claim = cluster.claim(name);
      if (!claim || claim.metadata.deletionTimestamp) return undefined;
      const { nodeClassRef } = claim.spec;
      if (nodeClassRef.group !== group || nodeClassRef.kind !== kind) return undefined;
      const nodeClass = nodeClasses.store.get({ name: nodeClassRef.name });
      if (!nodeClass || nodeClass.metadata.deletionTimestamp || updates.isCurrent(claim, nodeClass)) return undefined;
      const registered = findCondition(claim, NodeClaimConditions.registered)?.status === 'True';
      if (!registered || !claim.status?.providerID) return { requeueAfter: UNREGISTERED_RETRY };
      await updates.apply(claim, nodeClass, signal);
      const hash = updates.hashFor(claim, nodeClass);
      const annotations = { ...claim.metadata.annotations, [Annotations.inPlaceUpdateHash]: hash };
      const updated = { ...claim, metadata: { ...claim.metadata, annotations } };
      await ignoreNotFound(patchObject(kube, Kinds.NodeClaim, claim, updated));
      log.info('updated tags and identities of an instance in place', { NodeClaim: name });
      return undefined;
    },
  });
}
