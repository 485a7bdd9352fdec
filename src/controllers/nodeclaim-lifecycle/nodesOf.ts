import type { Node } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { Informer } from '../../kube/informer.ts';

/** Name of the node informer's index by `spec.providerID`. */
export const BY_PROVIDER_ID = 'spec.providerID';

export const byProviderIDIndex = (node: Node): readonly string[] =>
  node.spec?.providerID ? [node.spec.providerID] : [];

/** The Nodes that say they are this claim's machine: one, once it has joined. */
export function nodesOf(claim: NodeClaim, nodes: Informer<Node>): readonly Node[] {
  const { providerID } = claim.status ?? {};
  return providerID ? nodes.store.byIndex(BY_PROVIDER_ID, providerID) : [];
}
