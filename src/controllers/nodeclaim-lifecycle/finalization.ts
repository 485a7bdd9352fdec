import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { ConditionSet, NODE_CLAIM_CONDITIONS } from '../../api/conditions.ts';
import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Annotations, Finalizers, Labels } from '../../api/labels.ts';
import { InstanceNotFoundError } from '../../cloud/errors.ts';
import { patchConditions } from '../../kube/conditionPatch.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { ReconcileResult } from '../../kube/runtime/controller.ts';
import { patchObject } from '../../kube/statusPatch.ts';
import { Duration } from '../../units/duration.ts';
import { timestamp } from '../../units/timestamp.ts';
import * as publish from './events.ts';
import type { StepContext } from './step.ts';

const INSTANCE_POLL = 5_000;

/** Finalizes a claim: its Node is drained by its own finalizer, then the instance is deleted, then the claim. */
export async function finalize(stored: NodeClaim, context: StepContext): Promise<ReconcileResult | undefined> {
  if (!stored.metadata.finalizers?.includes(Finalizers.termination)) return undefined;
  const claim = await announceDeadline(stored, context);
  if (await hasNodes(claim, context)) return undefined;
  const { gone, claim: informed } = await endInstance(claim, context);
  if (!gone) return { requeueAfter: INSTANCE_POLL };
  await release(informed, context);
  return undefined;
}

/** Deletes the Nodes of a registered claim; their deletion events trigger the next reconcile. */
async function hasNodes(claim: NodeClaim, { world, signal }: StepContext): Promise<boolean> {
  const conditions = new ConditionSet(NODE_CLAIM_CONDITIONS, claim, world.clock.now());
  const nodes = world.cluster.nodesByProviderID(claim.status?.providerID);
  // The Node is labelled before the claim's condition is set, and pods may run on it from then on.
  const isRegistered = nodes.some(({ metadata }) => metadata.labels?.[Labels.registered] === 'true');
  if (!isRegistered && !conditions.isTrue(NodeClaimConditions.registered)) return false;
  for (const { metadata } of nodes) {
    if (metadata.deletionTimestamp) continue;
    await ignoreNotFound(world.kube.delete(Kinds.Node, { name: metadata.name }, { signal }));
  }
  return nodes.length > 0;
}

/**
 * Deletes the instance even when none is recorded: a launch may have succeeded although its answer was lost, and the
 * claim is the only trace of it.
 */
async function endInstance(
  claim: NodeClaim,
  { world, metrics, signal }: StepContext,
): Promise<{ readonly gone: boolean; readonly claim: NodeClaim }> {
  const { kube, cloud, clock, ledger } = world;
  let gone = false;
  try {
    await cloud.delete(claim, signal);
  } catch (error) {
    if (!(error instanceof InstanceNotFoundError)) throw error;
    gone = true;
  }
  if (!claim.status?.providerID) return { gone, claim };
  if (gone)
    metrics.instanceTerminationDuration.observe({ nodepool: poolOf(claim) }, secondsSinceDeletion(claim, clock.now()));
  const conditions = new ConditionSet(NODE_CLAIM_CONDITIONS, claim, clock.now());
  if (conditions.isTrue(NodeClaimConditions.instanceTerminating)) return { gone, claim };
  conditions.setTrue(NodeClaimConditions.instanceTerminating, clock.now());
  const after = { ...claim, status: { ...claim.status, conditions: conditions.conditions } };
  const stored = await patchConditions(kube, Kinds.NodeClaim, NODE_CLAIM_CONDITIONS, claim, after);
  if (!gone) ledger.append({ kind: 'instance', nodeClaim: claim.metadata.name, state: 'leaving' });
  return { gone, claim: stored };
}

async function release(claim: NodeClaim, { world, metrics, launches, log }: StepContext): Promise<void> {
  const { kube, clock } = world;
  const finalizers = (claim.metadata.finalizers ?? []).filter((name) => name !== Finalizers.termination);
  const after = { ...claim, metadata: { ...claim.metadata, finalizers } };
  await ignoreNotFound(patchObject(kube, Kinds.NodeClaim, claim, after, { lock: true }));
  launches.forget(claim.metadata.uid ?? '');
  if (claim.status?.providerID) {
    world.ledger.append({ kind: 'instance', nodeClaim: claim.metadata.name, state: 'gone' });
  }
  log.info('deleted nodeclaim', {
    NodeClaim: claim.metadata.name,
    Node: claim.status?.nodeName,
    'provider-id': claim.status?.providerID,
  });
  const { labels } = claim.metadata;
  metrics.terminationDuration.observe({ nodepool: poolOf(claim) }, secondsSinceDeletion(claim, clock.now()));
  metrics.terminated.inc({
    nodepool: poolOf(claim),
    capacity_type: labels?.[Labels.capacityType] ?? '',
    zone: labels?.[Labels.zone] ?? '',
  });
}

/** With a terminationGracePeriod the drain has a deadline; it is written once, as an annotation. */
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

const poolOf = (claim: NodeClaim): string => claim.metadata.labels?.[Labels.nodePool] ?? '';

const secondsSinceDeletion = ({ metadata }: NodeClaim, now: number): number =>
  (now - Date.parse(metadata.deletionTimestamp ?? '')) / 1000;
