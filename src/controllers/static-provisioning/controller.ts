import { READY } from '../../api/conditionTypes.ts';
import { findCondition } from '../../api/conditions.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Labels } from '../../api/labels.ts';
import { podList } from '../../ledger/podList.ts';
import { RecentMap } from '../../kube/recentMap.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { parseResources, quantityOf } from '../../units/resources.ts';
import { isManaged } from '../world/managed.ts';
import { poolInstanceTypes } from '../world/nodeClassOfPool.ts';
import { ClaimWriter } from '../claims/claimWriter.ts';
import { staticClaimDraft } from '../claims/nodeClaimDraft.ts';
import type { World } from '../world/world.ts';
import { LaunchRetries } from './launchRetries.ts';

const INTERVAL = 60_000;
const LIMITED_INTERVAL = 30_000;
const MOST_POOLS = 1_000;

/** Creates missing NodeClaims of a static NodePool. */
export function staticProvisioningController(world: World): Controller {
  const { informers, cluster, cloud, random } = world;
  const claims = new ClaimWriter(world);
  const retries = new LaunchRetries(world);
  /** The last record about a pool at its limit. */
  const held = new RecentMap<string, string>(MOST_POOLS);
  return reconciler({
    ...world,
    name: 'static.provisioning',
    concurrency: 10,
    watches: [
      watch(informers.nodePools),
      watch(informers.nodeClaims, ({ type, object }) => {
        const pool = object.metadata.labels?.[Labels.nodePool];
        const leaving = type === 'deleted' || object.metadata.deletionTimestamp !== undefined;
        if (pool === undefined) return [];
        if (leaving) retries.gone(pool, object);
        else retries.seen(pool, object);
        return leaving ? [pool] : [];
      }),
    ],
    reconcile: async (name, { signal, log }) => {
      const pool = informers.nodePools.store.get({ name });
      const replicas = pool?.spec.replicas;
      if (!pool || replicas === undefined || pool.metadata.deletionTimestamp) {
        retries.forget(name);
        return undefined;
      }
      const usable = isManaged(pool.spec.template.spec.nodeClassRef, cloud);
      if (!usable || findCondition(pool, READY)?.status !== 'True') return undefined;
      const instances = cluster.snapshot().nodes.filter(({ nodePool, claim }) => nodePool === name && claim);
      // A node about to be replaced counts until its replacement exists.
      const missing = replicas - instances.filter(({ deleting }) => !deleting).length;
      if (missing <= 0) return { requeueAfter: INTERVAL };
      const limit = pool.spec.limits?.['nodes'];
      // Nodes that are being deleted count until they are gone.
      const room =
        limit === undefined
          ? missing
          : quantityOf(parseResources({ nodes: limit }), 'nodes').value() - instances.length;
      const count = Math.min(missing, room);
      if (count <= 0) {
        note(pool, missing, []);
        log.info('static NodePool is at its limit of nodes', { NodePool: name, replicas, limit });
        return { requeueAfter: LIMITED_INTERVAL };
      }
      const wait = retries.wait(name);
      if (wait > 0) return { requeueAfter: wait };
      const types = await poolInstanceTypes(pool, cloud, informers, signal);
      const described = new Set(types.flatMap(({ requirements }) => [...requirements.keys()]));
      const drafts = Array.from({ length: count }, () => staticClaimDraft(pool, described, () => random.next()));
      const made: string[] = [];
      try {
        await claims.writeAll(drafts, async (draft) => {
          const claim = await claims.write(pool, draft, 'provisioned', signal);
          made.push(claim.metadata.name);
          log.info('created nodeclaim', { NodeClaim: claim.metadata.name, NodePool: name });
        });
      } finally {
        if (made.length > 0) note(pool, missing, made);
      }
      return { requeueAfter: count < missing ? LIMITED_INTERVAL : INTERVAL };
    },
  });

  /** Recorded once while a pool stays at its limit. */
  function note({ metadata, spec }: NodePool, missing: number, made: readonly string[]): void {
    const { replicas = 0, limits } = spec;
    const limit = made.length < missing && limits?.['nodes'] !== undefined ? String(limits['nodes']) : undefined;
    const state = `${replicas} ${missing} ${limit}`;
    const isKnown = made.length === 0 && held.get(metadata.name) === state;
    held.set(metadata.name, made.length === 0 ? state : '');
    if (isKnown) return;
    world.ledger.append({
      kind: 'replicas',
      nodePool: metadata.name,
      replicas,
      nodes: replicas - missing,
      nodeClaims: podList(made),
      ...(limit !== undefined && { limit }),
    });
  }
}
