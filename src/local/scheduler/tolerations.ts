import type { Node, Pod } from '../../api/kinds.ts';

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];
type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number];

export function tolerates(tolerations: readonly Toleration[] | undefined, taint: Taint): boolean {
  return (tolerations ?? []).some((toleration) => {
    if (toleration.effect && toleration.effect !== taint.effect) return false;
    if (toleration.key && toleration.key !== taint.key) return false;
    if (!toleration.key && toleration.operator !== 'Exists') return false;
    return toleration.operator === 'Exists' || (toleration.value ?? '') === (taint.value ?? '');
  });
}
