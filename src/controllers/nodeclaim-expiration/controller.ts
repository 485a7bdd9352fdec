import { isReschedulable } from '../../pods/podPredicates.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { Duration } from '../../units/duration.ts';
import { deleteClaim } from '../claims/deleteClaim.ts';
import { DisruptedCounter } from '../metrics/disruptedCounter.ts';
import type { World } from '../world/world.ts';

/**
 * Deletes NodeClaims that have reached their `expireAfter`. Budgets and do-not-disrupt do not prevent it, they only
 * slow the drain.
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
      const { expireAfter } = claim.spec;
      if (!expireAfter || expireAfter === 'Never') return undefined;
      const end = Date.parse(claim.metadata.creationTimestamp ?? '') + Duration.parse(expireAfter).milliseconds;
      if (clock.now() < end) return { requeueAfter: end - clock.now() };
      const pods = cluster.viewOf(name)?.pods.filter(isReschedulable).length ?? 0;
      if (!(await deleteClaim(kube, claim, signal))) return undefined;
      disrupted.count(claim, 'expired', pods);
      log.info('deleting expired nodeclaim', { NodeClaim: name, expireAfter });
      return undefined;
    },
  });
}
