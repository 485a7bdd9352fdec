import { NodewrightError } from '../../errors/nodewrightError.ts';
import { NodeClaimConditions, READY, Reasons } from '../../api/conditionTypes.ts';
import { ConditionSet, findCondition, NODE_CLAIM_CONDITIONS } from '../../api/conditions.ts';
import { Kinds, type Node } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Annotations, Finalizers, Labels, Taints } from '../../api/labels.ts';
import { InstanceNotFoundError } from '../../cloud/errors.ts';
import { firstTier, isDrainable, isWaitingEviction, mustForce } from '../../cluster/drain.ts';
import { isActive } from '../../pods/podPredicates.ts';
import { hasTaint } from '../../pods/taints.ts';
import { patchConditions } from '../../kube/conditionPatch.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { RecentMap } from '../../kube/recentMap.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchObject } from '../../kube/statusPatch.ts';
import type { EvictionQueue } from '../eviction-queue/controller.ts';
import { deleteClaim } from '../claims/deleteClaim.ts';
import { noteRemoval } from '../claims/noteRemoval.ts';
import { isManagedNode } from '../world/managed.ts';
import type { World } from '../world/world.ts';
import * as publish from './events.ts';
import { terminationMetrics, type TerminationMetrics } from './metrics.ts';
import { blockingAttachments, BY_NODE } from './volumes.ts';

/**
 * A drained node waits for pods that were bound just before its taint: this long while the scheduler may be binding
 * waiting pods, and a moment otherwise.
 */
const SETTLE = 5_000;
const LEAST_SETTLE = 2_000;
const SETTLE_POLL = 500;
const POLL = 1_000;
const INSTANCE_POLL = 5_000;
/** Milliseconds for which an instance seen in the cloud is assumed to exist. */
const INSTANCE_CHECK = 30_000;
const MAX_ASKED = 10_000;

/** Removes a deleted Node in order: taint, drain, detach volumes, delete the instance, release the finalizer. */
export function nodeTerminationController(world: World, evictions: EvictionQueue): Controller {
  const { metrics, informers, cluster } = world;
  const termination = new NodeTermination(world, evictions, terminationMetrics(metrics));
  return reconciler({
    ...world,
    name: 'node.termination',
    concurrency: 100,
    backoff: { base: 100, max: 10_000 },
    watches: [watch(informers.nodes)],
    reconcile: async (name, { signal }) => {
      const node = cluster.node(name);
      const leaving = node?.metadata.deletionTimestamp && node.metadata.finalizers?.includes(Finalizers.termination);
      return node && leaving && isManagedNode(node, world.cloud) ? termination.advance(node, signal) : undefined;
    },
  });
}

/** Shared state of the stages of one termination. */
interface Stage {
  readonly node: Node;
  readonly claim: NodeClaim | undefined;
  /** Conditions of the claim; changed by the stages and written once after them. */
  readonly conditions: ConditionSet | undefined;
  readonly deadline: number | undefined;
  readonly signal: AbortSignal;
}

class NodeTermination {
  private readonly world: World;
  private readonly evictions: EvictionQueue;
  private readonly metrics: TerminationMetrics;
  /** By the UID of a Node that is not ready: when the cloud was last asked for its instance. */
  private readonly askedAt = new RecentMap<string, number>(MAX_ASKED);

  constructor(world: World, evictions: EvictionQueue, metrics: TerminationMetrics) {
    this.world = world;
    this.evictions = evictions;
    this.metrics = metrics;
  }

  async advance(stored: Node, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { kube, clock, cluster } = this.world;
    const providerID = stored.spec?.providerID ?? '';
    const claim = cluster.claimByProviderID(providerID);
    if (claim && !claim.metadata.deletionTimestamp) {
      if (await deleteClaim(kube, claim, signal)) noteRemoval(this.world, claim, { reason: 'node-deleted' });
    }
    if (!isReady(stored) && (await this.isInstanceGone(stored, providerID, signal))) return this.release(stored);

    const deadline = this.deadline(stored, claim);
    const node = await patchObject(kube, Kinds.Node, stored, disrupted(stored), { lock: true });
    const conditions = claim && new ConditionSet(NODE_CLAIM_CONDITIONS, claim, clock.now());
    const stage: Stage = { node, claim, conditions, deadline, signal };
    const result = this.drain(stage) ?? this.detachVolumes(stage) ?? (await this.deleteInstance(stage));
    if (claim && conditions) {
      const after = { ...claim, status: { ...claim.status, conditions: conditions.conditions } };
      await ignoreNotFound(patchConditions(kube, Kinds.NodeClaim, NODE_CLAIM_CONDITIONS, claim, after));
      const wasDrained = findCondition(claim, NodeClaimConditions.drained)?.status === 'True';
      if (!wasDrained && conditions.isTrue(NodeClaimConditions.drained)) {
        this.metrics.drained.inc({ nodepool: node.metadata.labels?.[Labels.nodePool] ?? '' });
      }
    }
    return result ?? this.release(node);
  }

  private drain({ node, conditions, deadline }: Stage): ReconcileResult | undefined {
    const { cluster, clock, events } = this.world;
    const now = clock.now();
    if (conditions && conditions.get(NodeClaimConditions.drained) === undefined) {
      conditions.setUnknown(NodeClaimConditions.drained, now, Reasons.draining, Reasons.draining);
    }
    const waiting = cluster.podsOn(node.metadata.name).filter((pod) => isWaitingEviction(pod, now));
    const forced = new Set(waiting.filter((pod) => mustForce(pod, deadline, now)));
    const asked = firstTier(waiting.filter((pod) => !forced.has(pod))).filter(isActive);
    for (const pod of [...forced, ...asked]) this.evictions.add(pod, deadline);
    if (waiting.length > 0) {
      publish.podsStillWaiting(events, node, waiting.length);
      return { requeueAfter: POLL };
    }
    const drained = conditions?.get(NodeClaimConditions.drained);
    if (!conditions || drained?.status === 'True') return undefined;
    const settling = now - Date.parse(drained?.lastTransitionTime ?? '');
    if (settling < LEAST_SETTLE || (settling < SETTLE && cluster.podsMayBeBound)) return { requeueAfter: SETTLE_POLL };
    conditions.setTrue(NodeClaimConditions.drained, now);
    return undefined;
  }

  private detachVolumes({ node, conditions, deadline }: Stage): ReconcileResult | undefined {
    const { events, clock, cluster, informers } = this.world;
    const now = clock.now();
    const { name } = node.metadata;
    const attachments = informers.volumeAttachments.store.byIndex(BY_NODE, name);
    const staying = cluster.podsOn(name).filter((pod) => !isDrainable(pod, now));
    const blocking = blockingAttachments(attachments, staying, informers.volumeClaims.store);
    if (blocking.length === 0) {
      conditions?.setTrue(NodeClaimConditions.volumesDetached, now);
      return undefined;
    }
    if (deadline !== undefined && now >= deadline) {
      const reason = Reasons.terminationGracePeriodElapsed;
      conditions?.setFalse(NodeClaimConditions.volumesDetached, now, reason, reason);
      return undefined;
    }
    publish.awaitingVolumeDetachment(events, node, blocking);
    const reason = Reasons.awaitingVolumeDetachment;
    conditions?.setUnknown(NodeClaimConditions.volumesDetached, now, reason, reason);
    return { requeueAfter: POLL };
  }

  private async deleteInstance({ claim, conditions, signal }: Stage): Promise<ReconcileResult | undefined> {
    if (!claim) return undefined;
    let gone = false;
    try {
      await this.world.cloud.delete(claim, signal);
    } catch (error) {
      if (!(error instanceof InstanceNotFoundError)) throw error;
      gone = true;
    }
    conditions?.setTrue(NodeClaimConditions.instanceTerminating, this.world.clock.now());
    return gone ? undefined : { requeueAfter: INSTANCE_POLL };
  }

  /** Deadline for the drain, from the claim. */
  private deadline(node: Node, claim: NodeClaim | undefined): number | undefined {
    const text = claim?.metadata.annotations?.[Annotations.terminationTimestamp];
    if (claim === undefined || text === undefined) return undefined;
    const deadline = Date.parse(text);
    if (Number.isNaN(deadline)) {
      const { name } = claim.metadata;
      throw new NodewrightError('InvalidDeadline', {
        nodeClaim: name,
        annotation: Annotations.terminationTimestamp,
        text,
      });
    }
    publish.terminationGracePeriodExpiring(this.world.events, node, text);
    return deadline;
  }

  /** A Node that is not ready may have lost its instance. Asks the cloud at intervals, not on every reconcile. */
  private async isInstanceGone(node: Node, providerID: string, signal: AbortSignal): Promise<boolean> {
    const uid = node.metadata.uid ?? node.metadata.name;
    const now = this.world.clock.now();
    if (now - (this.askedAt.get(uid) ?? Number.NEGATIVE_INFINITY) < INSTANCE_CHECK) return false;
    this.askedAt.set(uid, now);
    try {
      await this.world.cloud.get(providerID, signal);
      return false;
    } catch (error) {
      if (error instanceof InstanceNotFoundError) return true;
      throw error;
    }
  }

  private async release(node: Node): Promise<undefined> {
    const { kube, log, clock } = this.world;
    const finalizers = (node.metadata.finalizers ?? []).filter((name) => name !== Finalizers.termination);
    await ignoreNotFound(patchObject(kube, Kinds.Node, node, { ...node, metadata: { ...node.metadata, finalizers } }));
    log.info('deleted node', { Node: node.metadata.name, 'provider-id': node.spec?.providerID });
    const { labels, deletionTimestamp, creationTimestamp } = node.metadata;
    const nodepool = labels?.[Labels.nodePool] ?? '';
    const secondsSince = (moment: string | undefined): number => (clock.now() - Date.parse(moment ?? '')) / 1000;
    this.metrics.terminated.inc({ nodepool, zone: labels?.[Labels.zone] ?? '' });
    this.metrics.duration.observe({ nodepool }, secondsSince(deletionTimestamp));
    this.metrics.lifetime.observe({ nodepool }, secondsSince(creationTimestamp));
    return undefined;
  }
}

const isReady = (node: Node): boolean =>
  (node.status?.conditions ?? []).some(({ type, status }) => type === READY && status === 'True');

/** Blocks new pods, and new connections through load balancers. */
function disrupted(node: Node): Node {
  const present = node.spec?.taints ?? [];
  const others = present.filter(({ key }) => key !== Taints.disrupted.key);
  const taints = hasTaint(present, Taints.disrupted) ? present : [...others, Taints.disrupted];
  const labels = { ...node.metadata.labels, [Labels.excludeFromLoadBalancers]: 'karpenter' };
  return { ...node, metadata: { ...node.metadata, labels }, spec: { ...node.spec, taints } };
}
