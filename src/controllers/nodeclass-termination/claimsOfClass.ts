import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';

/** The claims that use the AKSNodeClass of this name. */
export function claimsOfClass(claims: Iterable<NodeClaim>, name: string): NodeClaim[] {
  const { group, kind } = Kinds.AKSNodeClass;
  return [...claims].filter(
    ({ spec: { nodeClassRef: ref } }) => ref.group === group && ref.kind === kind && ref.name === name,
  );
}
