/** Usage of the subscription's quotas by nodes before, during and after a change. */
import { Labels } from '../api/labels.ts';
import type { QuotaShare } from '../ledger/changeReport.ts';
import type { PlannedNode } from '../solver/problem.ts';
import type { QuotaUse } from './quotaFindings.ts';
import type { Rehearsal } from './rehearse.ts';

type Pools = Rehearsal['pass']['pools'];
interface Place {
  readonly pool: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
}

export class QuotaShares {
  private readonly before: ReadonlyMap<string, number>;
  private readonly peak: Map<string, number>;

  constructor(start: Rehearsal) {
    this.before = takenIn(start);
    this.peak = new Map(this.before);
  }

  /** Adds nodes that are launched while the current ones still exist. */
  beside(now: Rehearsal, planned: readonly PlannedNode[]): void {
    const taken = takenIn(now);
    for (const {
      pool,
      alternatives: [first],
    } of planned) {
      if (first !== undefined) addTo(taken, now.pass.pools, { pool, ...first });
    }
    for (const [quota, amount] of taken) this.peak.set(quota, Math.max(this.peak.get(quota) ?? 0, amount));
  }

  sharesAt(end: Rehearsal): readonly QuotaShare[] {
    const after = takenIn(end);
    return [...this.peak.keys()].sort().map((quota) => ({
      quota,
      before: this.before.get(quota) ?? 0,
      peak: this.peak.get(quota) ?? 0,
      after: after.get(quota) ?? 0,
    }));
  }
}

/** Adds Azure's data about these quotas. */
export function withQuotaUse(shares: readonly QuotaShare[], uses: readonly QuotaUse[]): readonly QuotaShare[] {
  const known = new Map(uses.map((use) => [use.name.toLowerCase(), use]));
  return shares.map((share) => {
    const use = known.get(share.quota.toLowerCase());
    return use === undefined ? share : { ...share, limit: use.limit, used: use.used };
  });
}

function takenIn({ pass: { views, pools } }: Rehearsal): Map<string, number> {
  const taken = new Map<string, number>();
  for (const { labels, nodePool, claim } of views) {
    if (claim === undefined || nodePool === undefined) continue;
    addTo(taken, pools, {
      pool: nodePool,
      instanceType: labels[Labels.instanceType] ?? '',
      zone: labels[Labels.zone] ?? '',
      capacityType: labels[Labels.capacityType] ?? '',
    });
  }
  return taken;
}

function addTo(taken: Map<string, number>, pools: Pools, { pool, instanceType, zone, capacityType }: Place): void {
  const offerings = pools.get(pool)?.instanceTypes.find(({ name }) => name === instanceType)?.offerings ?? [];
  const ofType = offerings.filter((offering) => offering.capacityType === capacityType);
  const { quotaNeed } = ofType.find((offering) => offering.zone === zone) ?? ofType[0] ?? {};
  for (const quota of quotaNeed?.names ?? []) taken.set(quota, (taken.get(quota) ?? 0) + (quotaNeed?.amount ?? 0));
}
