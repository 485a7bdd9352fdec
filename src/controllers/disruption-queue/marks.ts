/** The two marks of a node to be disrupted: the taint of its Node and the condition of its NodeClaim. */
import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { ConditionSet, NODE_CLAIM_CONDITIONS } from '../../api/conditions.ts';
import { Kinds, type Node } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Taints } from '../../api/labels.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { patchConditions } from '../../kube/conditionPatch.ts';
import { InvariantError } from '../../errors/invariantError.ts';
import { ignoreNotFound, isConflict, KubeError } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';
import { patchObject } from '../../kube/statusPatch.ts';
import { hasTaint, withoutTaints } from '../../pods/taints.ts';
import { isPendingDisruption } from '../claims/isPendingDisruption.ts';
import type { World } from '../world/world.ts';

const { disruptionReason } = NodeClaimConditions;
const ATTEMPTS = 4;

type Ports = Pick<World, 'kube' | 'clock' | 'cluster'>;

/** Taints the Node, then sets the reason on the claim. Fails if either cannot be written. */
export async function markDisrupted(ports: Ports, view: NodeView, reason: string): Promise<void> {
  const { node, claim } = view;
  if (!node || !claim) throw new InvariantError(`${view.name} has no Node or no NodeClaim`);
  await setTaint(ports, node, true);
  await setReason(ports, claim, reason);
}

/** Removes both marks if present. Objects being deleted keep them. */
export async function clearDisrupted(ports: Ports, view: NodeView): Promise<void> {
  const { node, claim } = view;
  if (node && !node.metadata.deletionTimestamp && isTainted(node)) await ignoreNotFound(setTaint(ports, node, false));
  if (claim && !claim.metadata.deletionTimestamp && isPendingDisruption(claim))
    await ignoreNotFound(setReason(ports, claim));
}

/** Whether the node has at least one of the marks. */
export function hasMark({ node, claim }: NodeView): boolean {
  return (
    (node !== undefined && !node.metadata.deletionTimestamp && isTainted(node)) ||
    (claim !== undefined && !claim.metadata.deletionTimestamp && isPendingDisruption(claim))
  );
}

const isTainted = ({ spec }: Node): boolean => hasTaint(spec?.taints ?? [], Taints.disrupted);

/** Kubelets write the Node too: after a conflict the change is applied to its current version. */
async function setTaint({ kube, cluster }: Ports, node: Node, wanted: boolean): Promise<void> {
  const { name, uid } = node.metadata;
  let stored = cluster.node(name) ?? node;
  for (let attempt = 1; ; attempt++) {
    if (stored.metadata.uid !== uid)
      throw new KubeError({ code: 409, reason: 'Conflict', message: `Node ${name} was replaced` });
    if (isTainted(stored) === wanted) return;
    const others = withoutTaints(stored.spec?.taints ?? [], [Taints.disrupted]);
    const taints = wanted ? [...others, Taints.disrupted] : others;
    try {
      await patchTaints(kube, stored, taints);
      return;
    } catch (error) {
      if (!isConflict(error) || attempt >= ATTEMPTS) throw error;
      stored = await kube.get(Kinds.Node, { name });
    }
  }
}

async function patchTaints(kube: Kube, stored: Node, taints: readonly object[]): Promise<void> {
  const spec = { ...stored.spec, taints } as NonNullable<Node['spec']>;
  await patchObject(kube, Kinds.Node, stored, { ...stored, spec }, { lock: true });
}

/** Removes the condition if there is no reason. */
async function setReason({ kube, clock, cluster }: Ports, { metadata }: NodeClaim, reason?: string): Promise<void> {
  const claim = cluster.claim(metadata.name);
  if (claim === undefined || claim.metadata.uid !== metadata.uid) return;
  const conditions = new ConditionSet(NODE_CLAIM_CONDITIONS, claim, clock.now());
  if (reason === undefined) conditions.clear(disruptionReason);
  else conditions.setTrue(disruptionReason, clock.now(), reason, reason);
  const after = { ...claim, status: { ...claim.status, conditions: conditions.conditions } };
  await patchConditions(kube, Kinds.NodeClaim, NODE_CLAIM_CONDITIONS, claim, after);
}
