import type { Node } from '../../api/kinds.ts';
import { nodeClassLabelKey } from '../../api/labels.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';

/** Whether a claim or pool with this class is ours: other providers may share the cluster. */
export function isManaged(ref: { readonly group: string; readonly kind: string }, cloud: CloudProvider): boolean {
  return cloud.nodeClasses.some(({ group, kind }) => group === ref.group && kind === ref.kind);
}

/** Nodes carry the label of their class. */
export function isManagedNode(node: Node, cloud: CloudProvider): boolean {
  return cloud.nodeClasses.some(({ group, kind }) => node.metadata.labels?.[nodeClassLabelKey(group, kind)]);
}
