import type { Requirements } from '../constraints/requirements.ts';
import type { Resources } from '../units/resources.ts';

/** What the cloud sells, as the scheduler sees it. Immutable and shared: never change one in place. */
export interface InstanceType {
  readonly name: string;
  /** Defines every well-known label, even when it has no value. */
  readonly requirements: Requirements;
  readonly offerings: readonly Offering[];
  readonly capacity: Resources;
  /** What is left for pods: capacity less kube-reserved, system-reserved and the eviction threshold. */
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
  /** For reserved offerings: how many instances are left in the reservation. */
  readonly reservationCapacity?: number;
  /** Offerings with the same one draw on the same reservation; without one each offering is its own. */
  readonly reservationId?: string;
  /** What an instance takes of the account's quotas; absent where none is known to apply. */
  readonly quotaNeed?: QuotaNeed;
}

/** The quotas that an instance counts against, and how much it takes of each of them. */
export interface QuotaNeed {
  readonly names: readonly string[];
  /** vCPUs, mostly. */
  readonly amount: number;
}

/** One quota: what it allows and what of that is used. */
export interface QuotaFigure {
  readonly limit: number;
  /** Includes what is being launched. */
  readonly used: number;
}
