/** What is known of a node: why it was bought, what it costs, what its pods would need today. Plain data. */
import type { PlannedOffering } from '../cloud/plannedOfferings.ts';
import type { Alternative } from '../solver/problem.ts';
import type { NodeChoice } from '../solver/reasons.ts';

export interface NodeFacts {
  readonly nodePool?: string;
  readonly nodeClaim?: string;
  readonly instanceType?: string;
  readonly zone?: string;
  readonly capacityType?: string;
  /** US dollars; absent where the price is not known. */
  readonly pricePerHour?: number;
  readonly pricePerMonth?: number;
  /** RFC 3339. */
  readonly boughtAt?: string;
  /** Claims that it took the place of. */
  readonly replaces: readonly string[];
  /** Pods that it was bought for; 0 where that is not known. */
  readonly boughtForPods: number;
  /** What the plan wanted, best first, with the prices of today. */
  readonly offerings: readonly (PlannedOffering & { readonly pricePerHour?: number })[];
  readonly pods: number;
  /** Quantity text by resource. */
  readonly requested: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** What would be bought today for the pods on it, if there were no other node. */
  readonly today?: { readonly nodes: readonly Alternative[]; readonly choice?: NodeChoice };
}
