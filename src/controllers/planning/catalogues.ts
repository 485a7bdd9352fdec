import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import { messageOf } from '../../errors/thrown.ts';
import { byPreference } from '../../solver/byPreference.ts';
import type { PoolOffer } from '../../solver/problem.ts';
import { UnevaluatedNodePoolError } from '../nodeoverlay/overlayCloud.ts';
import { isManaged } from '../world/managed.ts';
import { poolInstanceTypes } from '../world/nodeClassOfPool.ts';
import type { World } from '../world/world.ts';

/** Reported failures by pool object: the same failure is logged once, not in every pass. */
const reported = new WeakMap<NodePool, string>();

/** A pool and its instance types. */
export type Catalogue = Pick<PoolOffer, 'pool' | 'instanceTypes'>;

/**
 * Managed pools accepted by `includes`, in order of preference, with their instance types. A pool whose types cannot be
 * listed is left out; one without any types is kept.
 */
export async function catalogues(
  { informers, log }: Pick<World, 'informers' | 'log'>,
  cloud: CloudProvider,
  includes: (pool: NodePool) => boolean,
  signal: AbortSignal,
): Promise<readonly Catalogue[]> {
  const pools = [...informers.nodePools.store.list()]
    .filter((pool) => includes(pool) && isManaged(pool.spec.template.spec.nodeClassRef, cloud))
    .sort(byPreference);
  const found = await Promise.all(
    pools.map(async (pool): Promise<Catalogue | undefined> => {
      try {
        return { pool, instanceTypes: await poolInstanceTypes(pool, cloud, informers, signal) };
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof UnevaluatedNodePoolError) {
          log.debug('overlays are not evaluated yet', { NodePool: pool.metadata.name });
          return undefined;
        }
        const fields = { NodePool: pool.metadata.name, error };
        if (reported.get(pool) === messageOf(error)) return undefined;
        reported.set(pool, messageOf(error));
        log.error('cannot list the instance types of a NodePool; it is left out of this pass', fields);
        return undefined;
      }
    }),
  );
  return found.filter((each) => each !== undefined);
}
