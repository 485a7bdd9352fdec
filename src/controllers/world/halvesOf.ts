import { Kinds, type Node } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';

/** NodeClaim and Node of one node, as far as they exist. */
export interface Halves {
  readonly node?: Node | undefined;
  readonly claim?: NodeClaim | undefined;
}

interface Half {
  readonly object: KubeObject;
  readonly kind: ResourceKind<KubeObject>;
}

/** The Node and the NodeClaim: both get events about either. */
export function halvesOf({ node, claim }: Halves): readonly Half[] {
  return [
    ...(node ? [{ object: node, kind: Kinds.Node }] : []),
    ...(claim ? [{ object: claim, kind: Kinds.NodeClaim }] : []),
  ];
}
