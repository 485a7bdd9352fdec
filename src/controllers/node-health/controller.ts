import { Kinds, type Node } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Annotations, Labels } from '../../api/labels.ts';
import type { RepairPolicy } from '../../cloud/cloudProvider.ts';
import { limitsOf } from '../../disruption/budgets.ts';
import { isReschedulable } from '../../pods/podPredicates.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import { RecentMap } from '../../kube/recentMap.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchObject } from '../../kube/statusPatch.ts';
import { timestamp } from '../../units/timestamp.ts';
import { deleteClaim } from '../claims/deleteClaim.ts';
import { noteRemoval } from '../claims/noteRemoval.ts';
import { isForceful } from '../claims/expiry.ts';
import { isManagedNode } from '../world/managed.ts';
import type { World } from '../world/world.ts';
import { nodeRepairBlocked, type RepairObstacle } from './events.ts';
import { healthMetrics } from './metrics.ts';

/**
 * If more than this share of nodes (rounded up) is unhealthy, the cause is probably one that new nodes would not fix.
 */
const TOLERATED_PERCENT = 20;
const BLOCKED_RETRY = 5 * 60_000;
/** Limit on remembered nodes whose repair is blocked. */
const MOST_HELD = 5_000;

interface Ailment {
  readonly type: string;
  /** When the toleration of the condition ends. */
  readonly end: number;
  /** The cloud is about to remove the instance. */
  readonly isLeaving: boolean;
}

/**
 * Deletes Nodes that are unhealthy by the cloud's repair policies, without delay: budgets, do-not-disrupt and grace
 * periods protect working nodes only. With forceful expiration off, they wait for budgets and drain like any other
 * node.
 */
export function nodeHealthController(world: World): Controller {
  const { informers, clock, kube, cloud, cluster, events } = world;
  const metrics = healthMetrics(world.metrics);
  /** The last reported obstacle per node. */
  const held = new RecentMap<string, string>(MOST_HELD);
  return reconciler({
    ...world,
    name: 'node.health',
    concurrency: 10,
    watches: [watch(informers.nodes)],
    reconcile: async (name, { signal, log }) => {
      const node = cluster.node(name);
      if (!node || !isManagedNode(node, cloud)) return undefined;
      const claim = cluster.claimByProviderID(node.spec?.providerID);
      const ailment = claim && ailmentOf(node, cloud.repairPolicies);
      if (!claim || !ailment) return undefined;
      const now = clock.now();
      if (now < ailment.end) return { requeueAfter: ailment.end - now };
      const pool = informers.nodePools.store.get({ name: claim.metadata.labels?.[Labels.nodePool] ?? '' });
      const hurries = isPastDeadline(claim, now);
      if (hurries && claim.metadata.deletionTimestamp) return undefined;
      // An instance that the cloud removes is lost, whatever the state of the others.
      const forceful = ailment.isLeaving || isForceful(claim, pool);
      const obstacle = ailment.isLeaving
        ? undefined
        : (tooManyUnhealthy(claim) ?? (pool && !forceful ? overBudget(pool, now) : undefined));
      if (obstacle) {
        nodeRepairBlocked(events, { node, claim, pool }, obstacle);
        noteHeld(claim, name, ailment, obstacle);
        return { requeueAfter: BLOCKED_RETRY };
      }
      if (!hurries && forceful) {
        const annotations = { ...claim.metadata.annotations, [Annotations.terminationTimestamp]: timestamp(now) };
        const hurried = { ...claim, metadata: { ...claim.metadata, annotations } };
        await ignoreNotFound(patchObject(kube, Kinds.NodeClaim, claim, hurried, { lock: true }));
      }
      if (claim.metadata.deletionTimestamp) return undefined;
      const pods = cluster.podsOn(name).filter(isReschedulable).length;
      if (!(await deleteClaim(kube, claim, signal))) return undefined;
      metrics.disrupted.count(claim, 'unhealthy', pods);
      noteRemoval(world, claim, { reason: 'unhealthy', condition: ailment.type });
      metrics.unhealthyDisrupted.inc({
        condition: snakeCase(ailment.type),
        nodepool: claim.metadata.labels?.[Labels.nodePool] ?? '',
        capacity_type: claim.metadata.labels?.[Labels.capacityType] ?? '',
        image_id: claim.status?.imageID ?? '',
      });
      log.info('deleting unhealthy node', { Node: name, NodeClaim: claim.metadata.name, condition: ailment.type });
      return undefined;
    },
  });

  /** Reported once per cause. */
  function noteHeld(claim: NodeClaim, node: string, { type }: Ailment, { kind }: RepairObstacle): void {
    const nodePool = claim.metadata.labels?.[Labels.nodePool];
    const cause = kind === 'repair-blocked' ? 'too-many-unhealthy' : 'budget';
    const known = held.get(node);
    held.set(node, `${type} ${cause}`);
    if (known === `${type} ${cause}`) return;
    world.ledger.append({
      kind: 'repair-held',
      node,
      nodeClaim: claim.metadata.name,
      ...(nodePool !== undefined && { nodePool }),
      condition: type,
      cause,
    });
  }

  /** Obstacle: too many nodes of the claim's pool are unhealthy, or of the cluster for a claim without a pool. */
  function tooManyUnhealthy({ metadata }: NodeClaim): RepairObstacle | undefined {
    const pool = metadata.labels?.[Labels.nodePool];
    const peers = [...cluster.nodes()].filter(
      (node) => pool === undefined || node.metadata.labels?.[Labels.nodePool] === pool,
    );
    const broken = peers.filter((node) => ailmentOf(node, cloud.repairPolicies)?.isLeaving === false);
    if (broken.length <= Math.ceil((peers.length * TOLERATED_PERCENT) / 100)) return undefined;
    return {
      kind: 'repair-blocked',
      toleratedPercent: TOLERATED_PERCENT,
      scope: pool === undefined ? 'cluster' : 'nodepool',
    };
  }

  /** Obstacle for a node that respects budgets: as many nodes of its pool as allowed are already being disrupted. */
  function overBudget(pool: NodePool, now: number): RepairObstacle | undefined {
    const peers = cluster.snapshot().nodes.filter(({ nodePool, claim }) => claim && nodePool === pool.metadata.name);
    const { limit } = limitsOf(pool, peers.length, now);
    const leaving = peers.filter(({ deleting }) => deleting).length;
    return leaving < limit.Drifted ? undefined : { kind: 'repair-over-budget' };
  }
}

/** The condition whose toleration ends first. */
function ailmentOf({ status }: Node, policies: readonly RepairPolicy[]): Ailment | undefined {
  let first: Ailment | undefined;
  for (const { conditionType, conditionStatus, toleration, reasons, isLeaving = false } of policies) {
    const found = status?.conditions?.find(({ type }) => type === conditionType);
    if (found?.status !== conditionStatus || reasons?.includes(found.reason ?? '') === false) continue;
    const since = found.lastTransitionTime === undefined ? 0 : Date.parse(found.lastTransitionTime);
    const end = since + toleration;
    if (first === undefined || end < first.end) first = { type: conditionType, end, isLeaving };
  }
  return first;
}

/** A termination time in the past is not changed. */
function isPastDeadline({ metadata }: NodeClaim, now: number): boolean {
  return Date.parse(metadata.annotations?.[Annotations.terminationTimestamp] ?? '') <= now;
}

function snakeCase(text: string): string {
  return text.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_').toLowerCase();
}
