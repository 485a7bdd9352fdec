import { NodeClaimConditions, READY } from '../../api/conditionTypes.ts';
import { Kinds, type Node } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Labels } from '../../api/labels.ts';
import { hasTaint, isEphemeralTaint } from '../../pods/taints.ts';
import { patchObject } from '../../kube/statusPatch.ts';
import { parseResources, quantityOf } from '../../units/resources.ts';
import { conditionText, type ConditionCause } from '../../ledger/conditionText.ts';
import type { Draft, StepContext, StepResult } from './step.ts';

/** Whether the node is ready for pods: Ready, free of start-up taints, and with every requested resource. */
export async function initialize(draft: Draft, context: StepContext): Promise<StepResult> {
  const { conditions, claim } = draft;
  const { world, log } = context;
  if (conditions.get(NodeClaimConditions.initialized)?.status === 'True') {
    conditions.refresh(NodeClaimConditions.initialized, world.clock.now());
    return {};
  }
  if (conditions.get(NodeClaimConditions.registered)?.status !== 'True') return {};
  const node = world.cluster.nodesByProviderID(claim.status?.providerID).at(-1);
  const obstacle = node === undefined ? ({ kind: 'nodeMissing' } as const) : obstacleOf(node, claim);
  if (node === undefined || obstacle) {
    const { reason, message } = conditionText(obstacle ?? { kind: 'nodeMissing' });
    conditions.setUnknown(NodeClaimConditions.initialized, world.clock.now(), reason, message);
    return {};
  }
  const labelled: Node = {
    ...node,
    metadata: { ...node.metadata, labels: { ...node.metadata.labels, [Labels.initialized]: 'true' } },
  };
  await patchObject(world.kube, Kinds.Node, node, labelled);
  conditions.setTrue(NodeClaimConditions.initialized, world.clock.now());
  return {
    stored: () =>
      log.info('initialized nodeclaim', {
        NodeClaim: claim.metadata.name,
        Node: node.metadata.name,
        'provider-id': claim.status?.providerID,
      }),
  };
}

function obstacleOf(node: Node, claim: NodeClaim): ConditionCause | undefined {
  const ready = node.status?.conditions?.find(({ type }) => type === READY);
  if (ready?.status !== 'True') return { kind: 'nodeUnready', isKnown: ready?.status === 'False' };
  const taints = node.spec?.taints ?? [];
  const startup = taints.filter((taint) => hasTaint(claim.spec.startupTaints ?? [], taint));
  if (startup.length > 0) return { kind: 'startupTaints', taints: startup };
  const ephemeral = taints.filter(isEphemeralTaint);
  if (ephemeral.length > 0) return { kind: 'ephemeralTaints', taints: ephemeral };
  const allocatable = parseResources(node.status?.allocatable);
  const requests = parseResources(claim.spec.resources?.requests);
  const missing = Object.entries(requests).find(
    ([name, amount]) => !amount.isZero() && quantityOf(allocatable, name).isZero(),
  );
  return missing && { kind: 'resourceMissing', resource: missing[0] };
}
