import type { Requirements } from '../constraints/requirements.ts';
import type { Resources } from '../units/resources.ts';

/** An instance type as the scheduler sees it. Immutable and shared: never modify one. */
export interface InstanceType {
  readonly name: string;
  /** Defines every well-known label, even those without a value. */
  readonly requirements: Requirements;
  readonly offerings: readonly Offering[];
  readonly capacity: Resources;
  /** Resources for pods: capacity minus kube-reserved, system-reserved and the eviction threshold. */
  readonly allocatable: Resources;
}

/** One way to buy an instance type: a zone and a capacity type at a price. */
export interface Offering {
  /** Includes at least zone and capacity type. */
  readonly requirements: Requirements;
  readonly zone: string;
  readonly capacityType: 'on-demand' | 'spot' | 'reserved';
  /** US dollars per hour. */
  readonly price: number;
  readonly available: boolean;
  /** For reserved offerings: number of instances left in the reservation. */
  readonly reservationCapacity?: number;
  /** Offerings with the same id share a reservation; without one, each offering is separate. */
  readonly reservationId?: string;
  /** Quota usage per instance; absent when no quota is known to apply. */
  readonly quotaNeed?: QuotaNeed;
}

/** The quotas that an instance counts against, and how much it uses of each. */
export interface QuotaNeed {
  readonly names: readonly string[];
  /** vCPUs, mostly. */
  readonly amount: number;
}

/** A quota: its limit and its usage. */
export interface QuotaFigure {
  readonly limit: number;
  /** Includes instances being launched. */
  readonly used: number;
}
