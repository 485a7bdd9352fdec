import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Labels } from '../../api/labels.ts';
import type { CloudProvider, TypeView } from '../../cloud/cloudProvider.ts';
import type { InstanceType } from '../../cloud/instanceType.ts';
import { overlaidType, type Evaluation, type TypeChange } from './evaluation.ts';

/** The overlays have not been evaluated for this pool, so it cannot be used yet. */
export class UnevaluatedNodePoolError extends Error {
  override readonly name = 'UnevaluatedNodePoolError';
}

/** The result of the last evaluation of overlays; replaced as a whole. */
export class OverlayStore {
  private changes: Evaluation['changes'] = new Map();

  replace({ changes }: Evaluation): void {
    this.changes = changes;
  }

  apply(pool: NodePool, types: readonly InstanceType[]): readonly InstanceType[] {
    if (this.changes.has(pool.metadata.name)) return this.viewOf(pool.metadata.name)(types);
    throw new UnevaluatedNodePoolError(`overlays have not been evaluated for NodePool ${pool.metadata.name}`);
  }

  /** Applies the overlays to the types of a pool; without such a pool the types are unchanged. */
  viewOf(pool: string): TypeView {
    const changes = this.changes.get(pool);
    return (types) => (changes ? types.map((type) => overlaidType(type, changes.get(type.name))) : types);
  }

  /** Whether an overlay changed the price or the capacity of any of these types. */
  touched(pool: string, typeNames: readonly string[]): { readonly price: boolean; readonly capacity: boolean } {
    const changes = typeNames.flatMap((name): readonly TypeChange[] => {
      const change = this.changes.get(pool)?.get(name);
      return change ? [change] : [];
    });
    return {
      price: changes.some(({ prices }) => prices.size > 0),
      capacity: changes.some(({ capacity }) => capacity.size > 0),
    };
  }
}

/** The provider with overlays applied to its instance types. */
export function overlaidCloud(cloud: CloudProvider, overlays: OverlayStore): CloudProvider {
  return {
    name: cloud.name,
    nodeClasses: cloud.nodeClasses,
    repairPolicies: cloud.repairPolicies,
    quotas: (unlaunched) => cloud.quotas?.(unlaunched) ?? new Map(),
    create: (request, signal) => {
      const pool = request.claim.metadata.labels?.[Labels.nodePool] ?? '';
      return cloud.create({ ...request, view: overlays.viewOf(pool) }, signal);
    },
    delete: (...request) => cloud.delete(...request),
    get: (...request) => cloud.get(...request),
    list: (...request) => cloud.list(...request),
    driftReason: (...request) => cloud.driftReason(...request),
    instanceTypes: async (pool, nodeClass, signal) =>
      overlays.apply(pool, await cloud.instanceTypes(pool, nodeClass, signal)),
  };
}
