import { NodeClaimConditions, Reasons } from '../../api/conditionTypes.ts';
import { Kinds, type Node } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Finalizers, Labels, Taints } from '../../api/labels.ts';
import { apiVersionOf } from '../../api/object.ts';
import { hasTaint, mergeTaints, withoutTaints } from '../../constraints/taints.ts';
import { patchObject } from '../../kube/statusPatch.ts';
import * as publish from './events.ts';
import { nodesOf } from './nodesOf.ts';
import type { Draft, StepContext, StepResult } from './step.ts';

/** Finds the Node of the machine, gives it what the claim promised and takes the `unregistered` taint off. */
export async function register(draft: Draft, context: StepContext): Promise<StepResult> {
  const { conditions, claim } = draft;
  const { world, metrics, log } = context;
  if (conditions.get(NodeClaimConditions.registered)?.status !== 'Unknown') {
    conditions.refresh(NodeClaimConditions.registered, world.clock.now());
    return {};
  }
  if (conditions.get(NodeClaimConditions.launched)?.status !== 'True') return {};
  const [node, ...others] = nodesOf(claim, world.informers.nodes);
  if (node === undefined) {
    conditions.setUnknown(
      NodeClaimConditions.registered,
      world.clock.now(),
      Reasons.nodeNotFound,
      'Node not registered with cluster',
    );
    return {};
  }
  if (others.length > 0) {
    conditions.setFalse(
      NodeClaimConditions.registered,
      world.clock.now(),
      Reasons.multipleNodesFound,
      'Invariant violated, matched multiple nodes',
    );
    return {};
  }
  const isTainted = hasTaint(node.spec?.taints ?? [], Taints.unregistered);
  if (!isTainted && node.metadata.labels?.[Labels.registered] !== 'true') {
    publish.unregisteredTaintMissing(world.events, claim, node.metadata.name);
    log.error('the node joined without the unregistered taint', { Node: node.metadata.name });
  }
  await patchObject(world.kube, Kinds.Node, node, registered(node, claim), { lock: true });
  log.info('registered nodeclaim', { Node: node.metadata.name, 'provider-id': claim.status?.providerID });
  draft.claim = { ...claim, status: { ...claim.status, nodeName: node.metadata.name } };
  conditions.setTrue(NodeClaimConditions.registered, world.clock.now());
  metrics.nodesCreated.inc({
    nodepool: claim.metadata.labels?.[Labels.nodePool] ?? '',
    zone: claim.metadata.labels?.[Labels.zone] ?? '',
  });
  return {};
}

/** The Node as it should be once registered. */
function registered(node: Node, claim: NodeClaim): Node {
  const { metadata, spec } = node;
  const keepsTaints = metadata.labels?.[Labels.doNotSyncTaints] === 'true';
  const present = spec?.taints ?? [];
  const promised = [...(claim.spec.taints ?? []), ...(claim.spec.startupTaints ?? [])];
  const taints = withoutTaints(keepsTaints ? present : mergeTaints(present, promised), [Taints.unregistered]);
  const owner = {
    apiVersion: apiVersionOf(Kinds.NodeClaim),
    kind: Kinds.NodeClaim.kind,
    name: claim.metadata.name,
    uid: claim.metadata.uid ?? '',
    blockOwnerDeletion: true,
  };
  const others = (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.uid);
  return {
    ...node,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...claim.metadata.labels, [Labels.registered]: 'true' },
      annotations: { ...metadata.annotations, ...claim.metadata.annotations },
      finalizers: [...new Set([...(metadata.finalizers ?? []), Finalizers.termination])],
      ownerReferences: [...others, owner],
    },
    spec: { ...spec, taints },
  };
}
