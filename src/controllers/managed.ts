import type { CloudProvider } from '../cloud/cloudProvider.ts';

/** Whether a claim or pool with this class is ours: another provider may share the cluster. */
export function isManaged(ref: { readonly group: string; readonly kind: string }, cloud: CloudProvider): boolean {
  return cloud.nodeClasses.some(({ group, kind }) => group === ref.group && kind === ref.kind);
}
