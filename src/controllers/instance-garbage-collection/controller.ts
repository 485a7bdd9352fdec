import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { Instance } from '../../cloud/cloudProvider.ts';
import { InstanceNotFoundError } from '../../cloud/errors.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { singleton } from '../../kube/runtime/singleton.ts';
import { settleAll } from '../world/settleAll.ts';
import type { World } from '../world/world.ts';

const INTERVAL = 2 * 60_000;
/** An instance younger than this may belong to a claim that the watch has not shown yet. */
const YOUNG = 5 * 60_000;
const CONCURRENCY = 100;

/** Deletes instances without a NodeClaim, and their Nodes. */
export function instanceGarbageCollectionController(world: World): Controller {
  const { cloud, cluster, kube, clock, log } = world;

  function isOrphan({ providerID, claimName, createdAt, deleting }: Instance): boolean {
    if (deleting || clock.now() - (createdAt ?? clock.now()) < YOUNG) return false;
    // Also compare by name: the claim's provider ID may not have been stored.
    return !cluster.claimByProviderID(providerID) && !(claimName && cluster.claim(claimName));
  }

  async function remove(instance: Instance, signal: AbortSignal): Promise<void> {
    try {
      await cloud.delete(claimFor(instance), signal);
    } catch (error) {
      if (!(error instanceof InstanceNotFoundError)) throw error;
    }
    const node = cluster.nodesByProviderID(instance.providerID).at(-1);
    if (node) await ignoreNotFound(kube.delete(Kinds.Node, { name: node.metadata.name }, { signal }));
    log.info('garbage collected cloudprovider instance', {
      controller: 'instance.garbagecollection',
      'provider-id': instance.providerID,
      ...(node && { Node: node.metadata.name }),
    });
  }

  return singleton({
    ...world,
    name: 'instance.garbagecollection',
    interval: INTERVAL,
    reconcile: async (signal) => {
      const instances = await cloud.list(signal);
      await settleAll(instances.filter(isOrphan), CONCURRENCY, (instance) => remove(instance, signal));
    },
  });
}

/** A minimal claim for an instance without one: enough to delete it. */
function claimFor({ providerID, claimName }: Instance): NodeClaim {
  return {
    metadata: { name: claimName ?? '' },
    spec: { nodeClassRef: { group: '', kind: '', name: '' }, requirements: [], expireAfter: 'Never' },
    status: { providerID },
  };
}
