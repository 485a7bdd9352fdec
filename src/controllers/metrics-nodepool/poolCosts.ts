import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Labels } from '../../api/labels.ts';
import type { Clock } from '../../clock/clock.ts';
import type { InstanceType } from '../../cloud/instanceType.ts';
import { UnevaluatedNodePoolError } from '../nodeoverlay/overlayCloud.ts';

type InstanceTypeSource = (pool: NodePool, signal: AbortSignal) => Promise<readonly InstanceType[]>;

interface PriceList {
  readonly since: number;
  /** By type, zone and capacity type. */
  readonly prices: ReadonlyMap<string, number>;
}

const HOUR = 3_600_000;

/** Hourly cost of the nodes of each NodePool, at prices at most an hour old. */
export class PoolCosts {
  private readonly instanceTypes: InstanceTypeSource;
  private readonly clock: Clock;
  private readonly lists = new Map<string, PriceList>();

  constructor(instanceTypes: InstanceTypeSource, clock: Clock) {
    this.instanceTypes = instanceTypes;
    this.clock = clock;
  }

  /** Dollars per hour; undefined until the prices of the pool are known. Throws when they cannot be listed. */
  async costOf(pool: NodePool, claims: readonly NodeClaim[], signal: AbortSignal): Promise<number | undefined> {
    const list = await this.pricesOf(pool, signal);
    return list && claims.reduce((sum, claim) => sum + (list.get(keyOfClaim(claim)) ?? 0), 0);
  }

  keepOnly(pools: ReadonlySet<string>): void {
    for (const name of this.lists.keys()) if (!pools.has(name)) this.lists.delete(name);
  }

  private async pricesOf(pool: NodePool, signal: AbortSignal): Promise<PriceList['prices'] | undefined> {
    const { name } = pool.metadata;
    const known = this.lists.get(name);
    const now = this.clock.now();
    if (known && now - known.since < HOUR) return known.prices;
    try {
      const types = await this.instanceTypes(pool, signal);
      const prices = new Map(
        types.flatMap((type) =>
          type.offerings.map(({ zone, capacityType, price }) => [keyOf(type.name, zone, capacityType), price] as const),
        ),
      );
      this.lists.set(name, { since: now, prices });
      return prices;
    } catch (error) {
      if (error instanceof UnevaluatedNodePoolError) return known?.prices;
      throw error;
    }
  }
}

const keyOf = (type: string, zone: string, capacityType: string): string => `${type}/${zone}/${capacityType}`;

function keyOfClaim({ metadata: { labels = {} } }: NodeClaim): string {
  return keyOf(labels[Labels.instanceType] ?? '', labels[Labels.zone] ?? '', labels[Labels.capacityType] ?? '');
}
