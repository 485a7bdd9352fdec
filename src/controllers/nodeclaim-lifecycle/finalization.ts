import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { ConditionSet, NODE_CLAIM_CONDITIONS } from '../../api/conditions.ts';
import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Annotations, Finalizers, Labels } from '../../api/labels.ts';
import { InstanceNotFoundError } from '../../cloud/errors.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { ReconcileResult } from '../../kube/runtime/controller.ts';
import { patchObject, patchStatus } from '../../kube/statusPatch.ts';
import { Duration } from '../../units/duration.ts';
import { timestamp } from '../../units/timestamp.ts';
import * as publish from './events.ts';
import { nodesOf } from './nodesOf.ts';
import type { StepContext } from './step.ts';

const INSTANCE_POLL = 5_000;

/** Ends a claim: its Node is drained by its own finalizer, then the instance goes, then the claim. */
export async function finalize(stored: NodeClaim, context: StepContext): Promise<ReconcileResult | undefined> {
  const { world, log, metrics, signal } = context;
  const { kube, clock, informers } = world;
  if (!stored.metadata.finalizers?.includes(Finalizers.termination)) return undefined;
  let claim = await announceDeadline(stored, context);

  const conditions = new ConditionSet(NODE_CLAIM_CONDITIONS, claim, clock.now());
  if (conditions.get(NodeClaimConditions.registered)?.status === 'True') {
    const nodes = nodesOf(claim, informers.nodes);
    for (const { metadata } of nodes.filter((node) => !node.metadata.deletionTimestamp)) {
      await ignoreNotFound(kube.delete(Kinds.Node, { name: metadata.name }, { signal }));
    }
    // The node's own events bring us back when it is gone.
    if (nodes.length > 0) return undefined;
  }

  if (claim.status?.providerID) {
    const gone = await deleteInstance(claim, context);
    if (conditions.get(NodeClaimConditions.instanceTerminating)?.status !== 'True') {
      conditions.setTrue(NodeClaimConditions.instanceTerminating, clock.now());
      const after = { ...claim, status: { ...claim.status, conditions: conditions.conditions } };
      claim = await patchStatus(kube, Kinds.NodeClaim, claim, after, { lock: true });
    }
    if (!gone) return { requeueAfter: INSTANCE_POLL };
  }

  const finalizers = (claim.metadata.finalizers ?? []).filter((name) => name !== Finalizers.termination);
  await ignoreNotFound(
    patchObject(
      kube,
      Kinds.NodeClaim,
      claim,
      { ...claim, metadata: { ...claim.metadata, finalizers } },
      { lock: true },
    ),
  );
  log.info('deleted nodeclaim', { Node: claim.status?.nodeName, 'provider-id': claim.status?.providerID });
  const nodepool = claim.metadata.labels?.[Labels.nodePool] ?? '';
  metrics.terminationDuration.observe(
    { nodepool },
    (clock.now() - Date.parse(claim.metadata.deletionTimestamp ?? '')) / 1000,
  );
  metrics.terminated.inc({
    nodepool,
    capacity_type: claim.metadata.labels?.[Labels.capacityType] ?? '',
    zone: claim.metadata.labels?.[Labels.zone] ?? '',
  });
  context.launched.delete(claim.metadata.uid ?? '');
  return undefined;

  async function deleteInstance(target: NodeClaim, { world: { cloud: provider } }: StepContext): Promise<boolean> {
    try {
      await provider.delete(target, signal);
      return false;
    } catch (error) {
      if (error instanceof InstanceNotFoundError) return true;
      throw error;
    }
  }
}

/** With a terminationGracePeriod the drain has a last moment; it is written down once, for all to see. */
async function announceDeadline(claim: NodeClaim, { world }: StepContext): Promise<NodeClaim> {
  const { terminationGracePeriod } = claim.spec;
  const { deletionTimestamp, annotations } = claim.metadata;
  if (!terminationGracePeriod || !deletionTimestamp || annotations?.[Annotations.terminationTimestamp]) return claim;
  const deadline = timestamp(Date.parse(deletionTimestamp) + Duration.parse(terminationGracePeriod).milliseconds);
  const after = {
    ...claim,
    metadata: { ...claim.metadata, annotations: { ...annotations, [Annotations.terminationTimestamp]: deadline } },
  };
  const stored = await patchObject(world.kube, Kinds.NodeClaim, claim, after, { lock: true });
  publish.terminationGracePeriodExpiring(world.events, stored, deadline);
  return stored;
}
