import { messageOf } from '../../errors/thrown.ts';
import { NodeClaimConditions, Reasons } from '../../api/conditionTypes.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Labels } from '../../api/labels.ts';
import type { Instance } from '../../cloud/cloudProvider.ts';
import { firstPlanned } from '../../cloud/plannedOfferings.ts';
import { InsufficientCapacityError, LaunchError, NodeClassNotReadyError } from '../../cloud/errors.ts';
import type { InstanceRecord } from '../../ledger/record.ts';
import { missingNodeClassMessage, usableNodeClass } from '../world/nodeClassOfPool.ts';
import { deleteClaim } from '../claims/deleteClaim.ts';
import * as publish from './events.ts';
import type { Draft, StepContext, StepResult } from './step.ts';

const MESSAGE_LIMIT = 300;
/** How long a claim waits for its node class to appear. */
const NODE_CLASS_GRACE = 3_000;

/** Launches the instance once; a result that could not be stored is kept in memory. */
export async function launch(draft: Draft, context: StepContext): Promise<StepResult> {
  const { conditions } = draft;
  const { launches, world, log, signal } = context;
  const uid = draft.claim.metadata.uid ?? '';
  if (conditions.get(NodeClaimConditions.launched)?.status !== 'Unknown') {
    conditions.refresh(NodeClaimConditions.launched, world.clock.now());
    launches.forget(uid);
    return {};
  }
  const wait = launches.waitFor(uid, world.clock.now());
  if (wait > 0) return { requeueAfter: wait };
  const { claim } = draft;
  const nodeClass = usableNodeClass(claim.spec.nodeClassRef, world.informers);
  if (nodeClass === undefined) return withoutNodeClass(claim, context);
  let instance: Instance;
  try {
    instance =
      launches.instanceOf(uid) ??
      (await world.cloud.create({ claim, nodeClass, onFailure: failLater(claim, context) }, signal));
  } catch (error) {
    note(claim, context, reasonOf(error), messageOf(error));
    if (error instanceof InsufficientCapacityError) {
      publish.insufficientCapacity(world.events, draft.claim, error.message);
      log.error('no capacity for the nodeclaim; deleting it', { error });
      return { giveUp: 'insufficient_capacity' };
    }
    if (error instanceof NodeClassNotReadyError) {
      publish.nodeClassNotReady(world.events, draft.claim, error.message);
      log.error('the nodeclass is not ready; deleting the nodeclaim', { error });
      return { giveUp: 'nodeclass_not_ready' };
    }
    const reason = reasonOf(error);
    const message = messageOf(error).slice(0, MESSAGE_LIMIT);
    conditions.setUnknown(NodeClaimConditions.launched, world.clock.now(), reason, message);
    publish.launchFailed(world.events, draft.claim, reason, message);
    launches.failed(uid, world.clock.now());
    throw error;
  }
  launches.succeeded(uid, instance);
  draft.claim = withInstance(draft, instance);
  conditions.setTrue(NodeClaimConditions.launched, world.clock.now());
  const { name } = draft.claim.metadata;
  return {
    stored: () => {
      world.ledger.append({ kind: 'instance', nodeClaim: name, state: 'bought', offering: offeringOf(instance) });
      log.info('launched nodeclaim', {
        NodeClaim: name,
        'provider-id': instance.providerID,
        'instance-type': instance.labels[Labels.instanceType],
      });
    },
  };
}

const offeringOf = ({ labels }: Instance): NonNullable<InstanceRecord['offering']> => ({
  instanceType: labels[Labels.instanceType] ?? '',
  zone: labels[Labels.zone] ?? '',
  capacityType: labels[Labels.capacityType] ?? '',
});

function reasonOf(error: unknown): string {
  if (error instanceof InsufficientCapacityError) return 'InsufficientCapacity';
  if (error instanceof NodeClassNotReadyError) return 'NodeClassNotReady';
  return error instanceof LaunchError ? error.reason : Reasons.launchFailed;
}

function note(claim: NodeClaim, { world }: StepContext, reason: string, message: string): void {
  const { metadata } = claim;
  const nodePool = metadata.labels?.[Labels.nodePool];
  const planned = firstPlanned(claim);
  world.ledger.append({
    kind: 'launch-failure',
    nodeClaim: metadata.name,
    ...(nodePool !== undefined && { nodePool }),
    ...(planned && { planned }),
    reason,
    message: message.slice(0, MESSAGE_LIMIT),
  });
}

/** Watches of two kinds are not ordered: a class created just before its claim may appear just after it. */
function withoutNodeClass(claim: NodeClaim, context: StepContext): StepResult {
  const { world, log } = context;
  const age = world.clock.now() - Date.parse(claim.metadata.creationTimestamp ?? '');
  if (age < NODE_CLASS_GRACE) return { requeueAfter: NODE_CLASS_GRACE - age };
  const message = missingNodeClassMessage(claim.spec.nodeClassRef);
  publish.nodeClassResolutionError(world.events, claim, message);
  publish.insufficientCapacity(world.events, claim, message);
  note(claim, context, 'NodeClassNotFound', message);
  log.error('the nodeclass is missing; deleting the nodeclaim', { NodeClaim: claim.metadata.name, message });
  return { giveUp: 'insufficient_capacity' };
}

/**
 * For a launch that the cloud had accepted but that failed later: the pods are planned again without the failed
 * offering.
 */
function failLater(claim: NodeClaim, context: StepContext): (error: Error) => void {
  const { world, launches, metrics, log } = context;
  const end = async (error: Error): Promise<void> => {
    publish.asyncProvisioningError(world.events, claim, error.message);
    note(claim, context, reasonOf(error), error.message);
    log.error('the launch failed after the cloud had accepted it; deleting the nodeclaim', { error });
    launches.forget(claim.metadata.uid ?? '');
    if (await deleteClaim(world.kube, claim)) metrics.disrupted.count(claim, 'async_provisioning');
  };
  return (failure) => {
    end(failure).catch((error: unknown) => log.error('cannot delete a nodeclaim whose launch failed', { error }));
  };
}

function withInstance({ claim }: Draft, instance: Instance): Draft['claim'] {
  const { metadata, status } = claim;
  return {
    ...claim,
    metadata: {
      ...metadata,
      labels: { ...instance.labels, ...metadata.labels },
      annotations: { ...metadata.annotations, ...instance.annotations },
    },
    status: {
      ...status,
      providerID: instance.providerID,
      ...(instance.imageID && { imageID: instance.imageID }),
      capacity: { ...instance.capacity },
      allocatable: { ...instance.allocatable },
    },
  };
}
