/** Facts about a node: why it was bought, what it costs, what its pods would need today. Plain data. */
import type { PlannedOffering } from '../cloud/plannedOfferings.ts';
import type { Alternative } from '../solver/problem.ts';
import type { NodeChoice } from '../solver/reasons.ts';

export interface NodeFacts {
  readonly nodePool?: string;
  readonly nodeClaim?: string;
  readonly instanceType?: string;
  readonly zone?: string;
  readonly capacityType?: string;
  /** US dollars; absent when the price is unknown. */
  readonly pricePerHour?: number;
  readonly pricePerMonth?: number;
  /** RFC 3339. */
  readonly boughtAt?: string;
  /** Claims that it replaced. */
  readonly replaces: readonly string[];
  /** Number of pods for which it was bought; 0 when unknown. */
  readonly boughtForPods: number;
  /** Planned offerings, best first, with today's prices. */
  readonly offerings: readonly (PlannedOffering & { readonly pricePerHour?: number })[];
  readonly pods: number;
  /** Quantity text by resource. */
  readonly requested: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** What would be bought today for its pods if there were no other node. */
  readonly today?: { readonly nodes: readonly Alternative[]; readonly choice?: NodeChoice };
}
