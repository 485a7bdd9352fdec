import { Kinds } from '../../api/kinds.ts';
import { nodeClassLabelKey } from '../../api/labels.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchObject } from '../../kube/statusPatch.ts';
import type { World } from '../world/world.ts';

/** Adds the node class label, which marks Nodes as managed, to older NodeClaims and Nodes. */
export function nodeClaimHydrationController(world: World): Controller {
  const { informers, kube, cluster } = world;
  return reconciler({
    ...world,
    name: 'nodeclaim.hydration',
    concurrency: 10,
    watches: [
      watch(informers.nodeClaims),
      watch(informers.nodes, ({ object }) => {
        const claim = cluster.claimByProviderID(object.spec?.providerID);
        return claim ? [claim.metadata.name] : [];
      }),
    ],
    reconcile: async (name) => {
      const claim = cluster.claim(name);
      if (!claim) return;
      const { group, kind, name: className } = claim.spec.nodeClassRef;
      const label = { [nodeClassLabelKey(group, kind)]: className };
      const labelled = { ...claim, metadata: { ...claim.metadata, labels: { ...claim.metadata.labels, ...label } } };
      await patchObject(kube, Kinds.NodeClaim, claim, labelled);
      for (const node of cluster.nodesByProviderID(claim.status?.providerID)) {
        const metadata = { ...node.metadata, labels: { ...node.metadata.labels, ...label } };
        await patchObject(kube, Kinds.Node, node, { ...node, metadata });
      }
    },
  });
}
