import { NodewrightError } from '../../errors/nodewrightError.ts';
import { NodeClaimConditions, Reasons } from '../../api/conditionTypes.ts';
import { Kinds, type Node } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Annotations, Finalizers, Labels, Taints } from '../../api/labels.ts';
import { apiVersionOf } from '../../api/object.ts';
import { hasTaint, mergeTaints, withoutTaints } from '../../pods/taints.ts';
import { isConflict } from '../../kube/errors.ts';
import { patchObject } from '../../kube/statusPatch.ts';
import { conditionText } from '../../ledger/conditionText.ts';
import { recordOutcome } from '../nodepool-registration-health/recordOutcome.ts';
import type { World } from '../world/world.ts';
import * as publish from './events.ts';
import type { Draft, StepContext, StepResult } from './step.ts';

const SYNC_ATTEMPTS = 4;

/** Finds the Node of the instance, applies the claim's metadata and taints, and removes the `unregistered` taint. */
export async function register(draft: Draft, context: StepContext): Promise<StepResult> {
  const { conditions, claim } = draft;
  const { world, metrics, log } = context;
  if (conditions.get(NodeClaimConditions.registered)?.status !== 'Unknown') {
    conditions.refresh(NodeClaimConditions.registered, world.clock.now());
    return {};
  }
  if (conditions.get(NodeClaimConditions.launched)?.status !== 'True') return {};
  const [node, ...others] = world.cluster.nodesByProviderID(claim.status?.providerID);
  if (node === undefined) {
    const { reason, message } = conditionText({ kind: 'nodeMissing' });
    conditions.setUnknown(NodeClaimConditions.registered, world.clock.now(), reason, message);
    return {};
  }
  if (others.length > 0) {
    const { reason, message } = conditionText({ kind: 'nodesAmbiguous' });
    conditions.setFalse(NodeClaimConditions.registered, world.clock.now(), reason, message);
    return {};
  }
  if (!hasTaint(node.spec?.taints ?? [], Taints.unregistered) && !isSynced(node)) {
    publish.unregisteredTaintMissing(world.events, claim);
    log.error('the node joined without the unregistered taint', { Node: node.metadata.name });
  }
  const pending = await pendingHooks(claim, context);
  // Hooks may take a while, and the kubelet writes the Node in the meantime.
  const [latest = node] = world.cluster.nodesByProviderID(claim.status?.providerID);
  await sync(world, latest, claim, pending.length === 0);
  if (pending.length > 0) {
    const names = pending.map(({ name }) => name).join(', ');
    conditions.setUnknown(NodeClaimConditions.registered, world.clock.now(), Reasons.registrationHookPending, names);
    const failed = pending.find(({ error }) => error !== undefined);
    if (failed)
      throw new NodewrightError(
        'RegistrationHookFailed',
        { nodeClaim: claim.metadata.name, hook: failed.name },
        { cause: failed.error },
      );
    return { requeueAfter: Math.min(...pending.map(({ requeueAfter }) => requeueAfter)) };
  }
  for (const hook of context.hooks) await hook.opened?.(claim, context.signal);
  draft.claim = { ...claim, status: { ...claim.status, nodeName: node.metadata.name } };
  conditions.setTrue(NodeClaimConditions.registered, world.clock.now());
  return {
    stored: async () => {
      log.info('registered nodeclaim', {
        NodeClaim: claim.metadata.name,
        Node: node.metadata.name,
        'provider-id': claim.status?.providerID,
      });
      metrics.nodesCreated.inc({
        nodepool: claim.metadata.labels?.[Labels.nodePool] ?? '',
        zone: claim.metadata.labels?.[Labels.zone] ?? '',
      });
      await recordOutcome(world, claim, conditions);
    },
  };
}

interface PendingHook {
  readonly name: string;
  readonly requeueAfter: number;
  readonly error?: unknown;
}

async function pendingHooks(claim: NodeClaim, { hooks, signal }: StepContext): Promise<readonly PendingHook[]> {
  const verdicts = await Promise.all(
    hooks.map(async (hook): Promise<PendingHook | undefined> => {
      const { name } = hook;
      try {
        const verdict = await hook.isDone(claim, signal);
        return verdict === true ? undefined : { name, requeueAfter: verdict.requeueAfter };
      } catch (error) {
        return { name, requeueAfter: 0, error };
      }
    }),
  );
  return verdicts.filter((verdict) => verdict !== undefined);
}

/** A starting kubelet writes its Node often, so a conflict is retried at once. */
async function sync({ kube }: World, stored: Node, claim: NodeClaim, agreed: boolean): Promise<Node> {
  let node = stored;
  for (let attempt = 1; ; attempt++) {
    try {
      return await patchObject(kube, Kinds.Node, node, synced(node, claim, agreed), { lock: true, isUrgent: agreed });
    } catch (error) {
      if (!isConflict(error) || attempt >= SYNC_ATTEMPTS) throw error;
      node = await kube.get(Kinds.Node, { name: stored.metadata.name }, { isUrgent: agreed });
      if (node.metadata.uid !== stored.metadata.uid || node.metadata.deletionTimestamp) throw error;
    }
  }
}

/** Whether a process that ended before it could say so in the claim has done it; startup taints may be gone since. */
function isSynced({ metadata, spec }: Node): boolean {
  return metadata.labels?.[Labels.registered] === 'true' && !hasTaint(spec?.taints ?? [], Taints.unregistered);
}

/** The Node with the claim's metadata and taints; the `unregistered` taint is removed only when all hooks are done. */
function synced(node: Node, claim: NodeClaim, agreed: boolean): Node {
  const { metadata, spec } = node;
  const present = spec?.taints ?? [];
  const keepsTaints = metadata.labels?.[Labels.doNotSyncTaints] === 'true' || isSynced(node);
  const promised = [...(claim.spec.taints ?? []), ...(claim.spec.startupTaints ?? [])];
  const merged = keepsTaints ? present : mergeTaints(present, promised);
  const taints = agreed ? withoutTaints(merged, [Taints.unregistered]) : merged;
  const owner = {
    apiVersion: apiVersionOf(Kinds.NodeClaim),
    kind: Kinds.NodeClaim.kind,
    name: claim.metadata.name,
    uid: claim.metadata.uid ?? '',
    blockOwnerDeletion: true,
  };
  // Annotations that only the claim needs: on the Node they would be sent to all watchers with every heartbeat.
  const { [Annotations.plannedPods]: _pods, ...annotations } = claim.metadata.annotations ?? {};
  const others = (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.uid);
  return {
    ...node,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...claim.metadata.labels, ...(agreed && { [Labels.registered]: 'true' }) },
      annotations: { ...metadata.annotations, ...annotations },
      finalizers: [...new Set([...(metadata.finalizers ?? []), Finalizers.termination])],
      ownerReferences: [...others, owner],
    },
    spec: { ...spec, taints },
  };
}
