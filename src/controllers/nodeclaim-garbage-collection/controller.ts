import { NodeClaimConditions, READY } from '../../api/conditionTypes.ts';
import { findCondition } from '../../api/conditions.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { singleton } from '../../kube/runtime/singleton.ts';
import { deleteClaim } from '../claims/deleteClaim.ts';
import { noteRemoval } from '../claims/noteRemoval.ts';
import { DisruptedCounter } from '../metrics/disruptedCounter.ts';
import { settleAll } from '../world/settleAll.ts';
import type { World } from '../world/world.ts';

const INTERVAL = 2 * 60_000;
const CONCURRENCY = 20;

/** Deletes NodeClaims whose instance no longer exists in the cloud. */
export function nodeClaimGarbageCollectionController(world: World): Controller {
  const { cluster, cloud, kube, log } = world;
  const disrupted = new DisruptedCounter(world.metrics);

  /** A kubelet that reports is better evidence than a list that may be outdated. */
  function isAlive(claim: NodeClaim): boolean {
    return cluster
      .nodesByProviderID(claim.status?.providerID)
      .some(({ status }) =>
        (status?.conditions ?? []).some(({ type, status: value }) => type === READY && value === 'True'),
      );
  }

  return singleton({
    ...world,
    name: 'nodeclaim.garbagecollection',
    interval: INTERVAL,
    reconcile: async (signal) => {
      // Collect claims before listing: an instance launched in between may be missing from the list.
      const registered = [...cluster.claims()].filter(
        (claim) =>
          !claim.metadata.deletionTimestamp && findCondition(claim, NodeClaimConditions.registered)?.status === 'True',
      );
      const instances = await cloud.list(signal);
      const present = new Set(instances.filter(({ deleting }) => !deleting).map(({ providerID }) => providerID));
      const orphans = registered.filter((claim) => !present.has(claim.status?.providerID ?? '') && !isAlive(claim));
      await settleAll(orphans, CONCURRENCY, async (claim) => {
        if (!(await deleteClaim(kube, claim, signal))) return;
        disrupted.count(claim, 'garbage_collected');
        noteRemoval(world, claim, { reason: 'instance-gone' });
        log.info('deleting nodeclaim whose instance is gone', {
          controller: 'nodeclaim.garbagecollection',
          NodeClaim: claim.metadata.name,
          'provider-id': claim.status?.providerID,
        });
      });
    },
  });
}
