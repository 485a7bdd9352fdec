import { Labels } from '../../api/labels.ts';
import { isDoNotDisrupt } from '../../pods/doNotDisrupt.ts';
import { evictionCost } from '../../pods/evictionCost.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { isActive, isDaemonPod } from '../../pods/podPredicates.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { Duration } from '../../units/duration.ts';
import { deleteClaim } from '../claims/deleteClaim.ts';
import { noteRemoval } from '../claims/noteRemoval.ts';
import { isPendingDisruption } from '../claims/isPendingDisruption.ts';
import { isManaged } from '../world/managed.ts';
import { settleAll } from '../world/settleAll.ts';
import type { World } from '../world/world.ts';

const INTERVAL = 60_000;
const CONCURRENCY = 20;

/** Deletes surplus nodes of a static NodePool, lowest disruption cost first. */
export function staticDeprovisioningController(world: World): Controller {
  const { informers, cluster, cloud, clock, kube } = world;
  return reconciler({
    ...world,
    name: 'static.deprovisioning',
    concurrency: 10,
    watches: [
      watch(informers.nodePools),
      watch(informers.nodeClaims, ({ type, object }) => {
        const pool = object.metadata.labels?.[Labels.nodePool];
        return pool !== undefined && type === 'added' ? [pool] : [];
      }),
    ],
    reconcile: async (name, { signal, log }) => {
      const pool = informers.nodePools.store.get({ name });
      const replicas = pool?.spec.replicas;
      if (!pool || replicas === undefined || pool.metadata.deletionTimestamp) return undefined;
      if (!isManaged(pool.spec.template.spec.nodeClassRef, cloud)) return undefined;
      const surplus = surplusOf(cluster.snapshot().nodes, name, replicas, clock.now());
      await settleAll(surplus, CONCURRENCY, async ({ claim }) => {
        if (!claim) return;
        if (!(await deleteClaim(kube, claim, signal))) return;
        noteRemoval(world, claim, { reason: 'surplus' });
        log.info('deleting nodeclaim of a static NodePool that shrank', {
          NodeClaim: claim.metadata.name,
          NodePool: name,
        });
      });
      return { requeueAfter: INTERVAL };
    },
  });
}

/** The pool's nodes beyond its replicas, in deletion order. */
export function surplusOf(
  views: readonly NodeView[],
  pool: string,
  replicas: number,
  now: number,
): readonly NodeView[] {
  const active = views.filter(
    ({ nodePool, claim, deleting }) => nodePool === pool && claim && !deleting && !isPendingDisruption(claim),
  );
  return byDisruptionCost(active, now).slice(0, Math.max(0, active.length - replicas));
}

/** Unlaunched nodes first, then empty ones, then those with movable pods, then those with do-not-disrupt pods. */
function byDisruptionCost(views: readonly NodeView[], now: number): readonly NodeView[] {
  return views
    .map((view) => ({ view, cost: disruptionCost(view, now) }))
    .sort((left, right) => left.cost.class - right.cost.class || left.cost.cost - right.cost.cost)
    .map(({ view }) => view);
}

function disruptionCost(
  { providerID, pods, claim }: NodeView,
  now: number,
): { readonly class: number; readonly cost: number } {
  if (providerID === undefined) return { class: 0, cost: 0 };
  const shielded = pods.some((pod) => isActive(pod) && isDoNotDisrupt(pod, now));
  if (!shielded && pods.every(isDaemonPod)) return { class: 1, cost: 0 };
  const cost = pods.reduce((sum, pod) => sum + evictionCost(pod), 0);
  return { class: shielded ? 3 : 2, cost: cost * lifetimeLeft(claim, now) };
}

/** 1 for a node that is new or never expires, 0 for one about to expire. */
function lifetimeLeft(claim: NodeView['claim'], now: number): number {
  const { expireAfter } = claim?.spec ?? {};
  if (!expireAfter || expireAfter === 'Never') return 1;
  const lifetime = Duration.parse(expireAfter).milliseconds;
  const age = now - Date.parse(claim?.metadata.creationTimestamp ?? '');
  return lifetime > 0 ? Math.min(1, Math.max(0, (lifetime - age) / lifetime)) : 0;
}
