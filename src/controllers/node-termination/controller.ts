import { NodeClaimConditions, READY, Reasons } from '../../api/conditionTypes.ts';
import { ConditionSet, NODE_CLAIM_CONDITIONS } from '../../api/conditions.ts';
import { Kinds, type Node, type VolumeAttachment } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Annotations, Finalizers, Labels, Taints } from '../../api/labels.ts';
import { InstanceNotFoundError } from '../../cloud/errors.ts';
import { withoutTaints } from '../../constraints/taints.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchObject, patchStatus } from '../../kube/statusPatch.ts';
import { mustForce, type EvictionQueue } from '../eviction-queue/controller.ts';
import type { World } from '../world.ts';
import { firstTier, isDrainable } from './drain.ts';
import * as publish from './events.ts';
import { terminationMetrics, type TerminationMetrics } from './metrics.ts';

export interface NodeTerminationOptions {
  readonly evictions: EvictionQueue;
  readonly volumeAttachments: Informer<VolumeAttachment>;
}

/** A drained node waits this long for pods that were bound just before its taint. */
const SETTLE = 5_000;
const POLL = 1_000;
const INSTANCE_POLL = 5_000;

/** Sees a Node off: taint, drain, detach, end of the instance, finalizer. */
export function nodeTerminationController(world: World, options: NodeTerminationOptions): Controller {
  const { metrics, informers } = world;
  const termination = new NodeTermination(world, options, terminationMetrics(metrics));
  return reconciler({
    ...world,
    name: 'node.termination',
    concurrency: 100,
    backoff: { base: 100, max: 10_000 },
    watches: [watch(informers.nodes)],
    reconcile: async (name, { signal }) => {
      const node = informers.nodes.store.get({ name });
      const ours =
        node &&
        world.cloud.nodeClasses.some(({ group, kind }) => node.metadata.labels?.[`${group}/${kind.toLowerCase()}`]);
      if (!ours || !node.metadata.deletionTimestamp || !node.metadata.finalizers?.includes(Finalizers.termination))
        return undefined;
      return termination.advance(node, signal);
    },
  });
}

class NodeTermination {
  readonly #world: World;
  readonly #options: NodeTerminationOptions;
  readonly #metrics: TerminationMetrics;

  constructor(world: World, options: NodeTerminationOptions, metrics: TerminationMetrics) {
    this.#world = world;
    this.#options = options;
    this.#metrics = metrics;
  }

  async advance(stored: Node, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { kube, clock, cluster } = this.#world;
    const providerID = stored.spec?.providerID ?? '';
    const claim = cluster.claimByProviderID(providerID);
    if (claim && !claim.metadata.deletionTimestamp) {
      await ignoreNotFound(kube.delete(Kinds.NodeClaim, { name: claim.metadata.name }, { signal }));
    }
    if (!isReady(stored) && (await this.#isInstanceGone(providerID, signal))) return this.#release(stored);

    const node = await patchObject(kube, Kinds.Node, stored, disrupted(stored));
    const conditions = claim && new ConditionSet(NODE_CLAIM_CONDITIONS, claim, clock.now());
    const result =
      this.#drain(node, claim, conditions) ??
      this.#detachVolumes(node, claim, conditions) ??
      (claim && (await this.#deleteInstance(claim, conditions, signal)));
    if (claim && conditions) {
      const status = { ...claim.status, conditions: conditions.conditions };
      await ignoreNotFound(patchStatus(kube, Kinds.NodeClaim, claim, { ...claim, status }, { lock: true }));
    }
    if (result) return result;
    return this.#release(node);
  }

  #drain(node: Node, claim: NodeClaim | undefined, conditions: ConditionSet | undefined): ReconcileResult | undefined {
    const { cluster, clock, events } = this.#world;
    const now = clock.now();
    const deadline = deadlineOf(claim);
    if (conditions && conditions.get(NodeClaimConditions.drained) === undefined) {
      conditions.setUnknown(NodeClaimConditions.drained, this.#world.clock.now(), Reasons.draining, Reasons.draining);
    }
    const waiting = cluster.podsOn(node.metadata.name).filter((pod) => isDrainable(pod, now));
    const forced = waiting.filter((pod) => mustForce(pod, deadline, now));
    const rest = waiting.filter((pod) => !forced.includes(pod));
    for (const pod of [...forced, ...firstTier(rest)]) this.#options.evictions.add(pod, deadline);
    if (waiting.length > 0) {
      publish.podsStillWaiting(events, node, waiting.length);
      return { requeueAfter: POLL };
    }
    const drained = conditions?.get(NodeClaimConditions.drained);
    if (!conditions || drained?.status === 'True') return undefined;
    if (now - Date.parse(drained?.lastTransitionTime ?? '') < SETTLE) return { requeueAfter: POLL };
    conditions.setTrue(NodeClaimConditions.drained, this.#world.clock.now());
    this.#metrics.drained.inc({ nodepool: node.metadata.labels?.[Labels.nodePool] ?? '' });
    return undefined;
  }

  #detachVolumes(
    node: Node,
    claim: NodeClaim | undefined,
    conditions: ConditionSet | undefined,
  ): ReconcileResult | undefined {
    const { events, clock } = this.#world;
    const attached = [...this.#options.volumeAttachments.store.list()]
      .filter(({ spec }) => spec.nodeName === node.metadata.name && spec.source.persistentVolumeName)
      .map(({ metadata }) => metadata.name)
      .sort();
    if (attached.length === 0) {
      conditions?.setTrue(NodeClaimConditions.volumesDetached, this.#world.clock.now());
      return undefined;
    }
    const deadline = deadlineOf(claim);
    if (deadline !== undefined && clock.now() >= deadline) {
      const reason = Reasons.terminationGracePeriodElapsed;
      conditions?.setFalse(NodeClaimConditions.volumesDetached, this.#world.clock.now(), reason, reason);
      return undefined;
    }
    publish.awaitingVolumeDetachment(events, node, attached);
    const reason = Reasons.awaitingVolumeDetachment;
    conditions?.setUnknown(NodeClaimConditions.volumesDetached, this.#world.clock.now(), reason, reason);
    return { requeueAfter: POLL };
  }

  async #deleteInstance(
    claim: NodeClaim,
    conditions: ConditionSet | undefined,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    let gone = false;
    try {
      await this.#world.cloud.delete(claim, signal);
    } catch (error) {
      if (!(error instanceof InstanceNotFoundError)) throw error;
      gone = true;
    }
    conditions?.setTrue(NodeClaimConditions.instanceTerminating, this.#world.clock.now());
    return gone ? undefined : { requeueAfter: INSTANCE_POLL };
  }

  async #isInstanceGone(providerID: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#world.cloud.get(providerID, signal);
      return false;
    } catch (error) {
      if (error instanceof InstanceNotFoundError) return true;
      throw error;
    }
  }

  async #release(node: Node): Promise<undefined> {
    const { kube, log } = this.#world;
    const finalizers = (node.metadata.finalizers ?? []).filter((name) => name !== Finalizers.termination);
    await ignoreNotFound(patchObject(kube, Kinds.Node, node, { ...node, metadata: { ...node.metadata, finalizers } }));
    log.info('deleted node', { Node: node.metadata.name, 'provider-id': node.spec?.providerID });
    this.#metrics.terminated.inc({
      nodepool: node.metadata.labels?.[Labels.nodePool] ?? '',
      zone: node.metadata.labels?.[Labels.zone] ?? '',
    });
    return undefined;
  }
}

const isReady = (node: Node): boolean =>
  (node.status?.conditions ?? []).some(({ type, status }) => type === READY && status === 'True');

/** No new pods, and no new connections through load balancers. */
function disrupted(node: Node): Node {
  const others = withoutTaints(node.spec?.taints ?? [], [Taints.disrupted]).filter(
    ({ key }) => key !== Taints.disrupted.key,
  );
  const labels = { ...node.metadata.labels, [Labels.excludeFromLoadBalancers]: 'karpenter' };
  return {
    ...node,
    metadata: { ...node.metadata, labels },
    spec: { ...node.spec, taints: [...others, Taints.disrupted] },
  };
}

function deadlineOf(claim: NodeClaim | undefined): number | undefined {
  const text = claim?.metadata.annotations?.[Annotations.terminationTimestamp];
  if (text === undefined) return undefined;
  const deadline = Date.parse(text);
  if (Number.isNaN(deadline)) {
    throw new Error(
      `annotation ${Annotations.terminationTimestamp} of NodeClaim ${claim?.metadata.name} is not a time: "${text}"`,
    );
  }
  return deadline;
}
