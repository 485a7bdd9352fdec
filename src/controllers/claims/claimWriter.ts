import { NodewrightError } from '../../errors/nodewrightError.ts';
import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Annotations } from '../../api/labels.ts';
import type { Draft } from '../../kube/kube.ts';
import type { Counter } from '../../kube/metrics.ts';
import { exceededResources, parseResources } from '../../units/resources.ts';
import { settleAll } from '../world/settleAll.ts';
import type { World } from '../world/world.ts';
import { createdCounter } from '../provisioner/metrics.ts';

/** NodeClaims written concurrently. */
const CONCURRENCY = 50;

/** Writes NodeClaims for NodePools, within their limits. */
export class ClaimWriter {
  private readonly world: World;
  private readonly created: Counter;

  constructor(world: World) {
    this.world = world;
    this.created = createdCounter(world.metrics);
  }

  async writeAll<T>(plans: readonly T[], write: (plan: T) => Promise<void>): Promise<void> {
    await settleAll(plans, CONCURRENCY, write);
  }

  async write(pool: NodePool, draft: Draft<NodeClaim>, reason: string, signal: AbortSignal): Promise<NodeClaim> {
    const { kube } = this.world;
    signal.throwIfAborted();
    this.check(pool);
    const claim = await kube.create(Kinds.NodeClaim, draft, { signal });
    this.created.inc({
      reason,
      nodepool: pool.metadata.name,
      min_values_relaxed: draft.metadata.annotations?.[Annotations.minValuesRelaxed] ?? '',
    });
    return claim;
  }

  /** The pool may have been deleted, or reached its limits, since the plan was made. */
  private check({ metadata }: NodePool): void {
    const { informers, cluster } = this.world;
    const pool = informers.nodePools.store.get({ name: metadata.name });
    if (!pool || pool.metadata.uid !== metadata.uid || pool.metadata.deletionTimestamp) {
      throw new NodewrightError('NodePoolGone', { nodePool: metadata.name });
    }
    const exceeded = exceededResources(cluster.poolUsage(metadata.name), parseResources(pool.spec.limits));
    if (exceeded.length > 0)
      throw new NodewrightError('NodePoolLimitReached', { nodePool: metadata.name, resources: exceeded });
  }
}
