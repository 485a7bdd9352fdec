import { Labels } from '../../api/labels.ts';
import { isReschedulable } from '../../pods/podPredicates.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { deleteClaim } from '../claims/deleteClaim.ts';
import { noteRemoval } from '../claims/noteRemoval.ts';
import { expiresAt, isForceful } from '../claims/expiry.ts';
import { DisruptedCounter } from '../metrics/disruptedCounter.ts';
import type { World } from '../world/world.ts';

/**
 * Deletes NodeClaims that have reached their `expireAfter`. Budgets do not prevent it, and do-not-disrupt only slows
 * the drain. With forceful expiration off, they are marked as drifted instead (see nodeclaim-disruption).
 */
export function nodeClaimExpirationController(world: World): Controller {
  const { informers, clock, kube, cluster } = world;
  const disrupted = new DisruptedCounter(world.metrics);
  return reconciler({
    ...world,
    name: 'nodeclaim.expiration',
    concurrency: 10,
    watches: [watch(informers.nodeClaims)],
    reconcile: async (name, { signal, log }) => {
      const claim = cluster.claim(name);
      if (!claim || claim.metadata.deletionTimestamp) return undefined;
      const end = expiresAt(claim);
      const pool = informers.nodePools.store.get({ name: claim.metadata.labels?.[Labels.nodePool] ?? '' });
      if (end === undefined || !isForceful(claim, pool)) return undefined;
      if (clock.now() < end) return { requeueAfter: end - clock.now() };
      const pods = cluster.viewOf(name)?.pods.filter(isReschedulable).length ?? 0;
      if (!(await deleteClaim(kube, claim, signal))) return undefined;
      disrupted.count(claim, 'expired', pods);
      noteRemoval(world, claim, { reason: 'expired' });
      log.info('deleting expired nodeclaim', { NodeClaim: name, expireAfter: claim.spec.expireAfter });
      return undefined;
    },
  });
}
