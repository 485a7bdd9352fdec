import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Labels } from '../../api/labels.ts';
import type { CloudProvider, TypeView } from '../../cloud/cloudProvider.ts';
import type { InstanceType } from '../../cloud/instanceType.ts';
import { overlaidType, type Evaluation, type TypeChange } from './evaluation.ts';

/** The overlays have not been laid over the types of this pool yet; it cannot be used until they have. */
export class UnevaluatedNodePoolError extends Error {
  override readonly name = 'UnevaluatedNodePoolError';
}

/** What the last evaluation of overlays came to; replaced as a whole. */
export class OverlayStore {
  private changes: Evaluation['changes'] = new Map();

  replace({ changes }: Evaluation): void {
    this.changes = changes;
  }

  apply(pool: NodePool, types: readonly InstanceType[]): readonly InstanceType[] {
    if (this.changes.has(pool.metadata.name)) return this.viewOf(pool.metadata.name)(types);
    throw new UnevaluatedNodePoolError(`overlays have not been evaluated for NodePool ${pool.metadata.name}`);
  }

  /** How the overlays show types to a pool; as they are where there is no such pool. */
  viewOf(pool: string): TypeView {
    const changes = this.changes.get(pool);
    return (types) => (changes ? types.map((type) => overlaidType(type, changes.get(type.name))) : types);
  }

  /** Whether an overlay had a say in the price or the capacity of any of these types. */
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

/** The same cloud, with instance types as the overlays make them. */
export function overlaidCloud(cloud: CloudProvider, overlays: OverlayStore): CloudProvider {
  return {
    name: cloud.name,
    nodeClasses: cloud.nodeClasses,
    repairPolicies: cloud.repairPolicies,
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
