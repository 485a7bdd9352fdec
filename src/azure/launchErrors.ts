/** Converts Azure's launch errors to ours, and marks offerings to avoid and for how long. First match wins. */
import { InsufficientCapacityError, LaunchError } from '../cloud/errors.ts';
import type { Offering } from '../cloud/instanceType.ts';
import { CAPACITY_TYPES, placementScopeOf, zonesOf } from '../catalogue/offerings.ts';
import type { Sku } from '../catalogue/resourceSku.ts';
import type { CapacityType } from '../catalogue/offerings.ts';
import type { UnavailableOfferings } from './unavailableOfferings.ts';

export interface AzureFailure {
  readonly code: string;
  readonly message: string;
  readonly statusCode: number | undefined;
}

export interface FailedAttempt {
  readonly sku: Sku;
  readonly offering: Offering;
  readonly location: string;
  /** Whether the request was for an AKS machine and not for a VM. */
  readonly isAksMachine: boolean;
}

interface Attempt {
  readonly sku: Sku;
  readonly zone: string;
  readonly capacityType: CapacityType;
  /** Zone labels of the size that share the attempt's placement scope. */
  readonly scopeZones: readonly string[];
  readonly allZones: readonly string[];
}

interface Rule {
  readonly code: string;
  readonly text?: RegExp;
  /** Undefined: the claim is given up, not retried. */
  readonly reason: string | undefined;
  readonly zones?: (attempt: Attempt) => readonly string[];
  readonly capacityTypes?: (attempt: Attempt) => readonly CapacityType[];
  readonly duration?: (attempt: Attempt, message: string) => number;
  readonly allSpot?: true;
  /** Only sent by AKS about machines. */
  readonly aksOnly?: true;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const hour = (): number => HOUR;
const sameType = ({ capacityType }: Attempt): readonly CapacityType[] => [capacityType];
const bothTypes = (): readonly CapacityType[] => CAPACITY_TYPES;
const thisZone = ({ zone }: Attempt): readonly string[] => [zone];
const scopeZones = (attempt: Attempt): readonly string[] => attempt.scopeZones;
const allZones = (attempt: Attempt): readonly string[] => attempt.allZones;

const RULES: readonly Rule[] = [
  {
    code: 'OperationNotAllowed',
    text: /LowPriorityCores/,
    reason: 'SubscriptionQuotaReached',
    allSpot: true,
    duration: hour,
  },
  {
    code: 'OperationNotAllowed',
    text: /Family Cores quota/,
    reason: 'SubscriptionQuotaReached',
    zones: allZones,
    capacityTypes: sameType,
    duration: (_attempt, message) => (message.includes('Current Limit: 0') ? HOUR : 10 * MINUTE),
  },
  {
    code: 'SkuNotAvailable',
    reason: 'SKUNotAvailable',
    zones: scopeZones,
    capacityTypes: sameType,
    duration: ({ capacityType }) => (capacityType === 'spot' ? HOUR : 23 * HOUR),
  },
  {
    code: 'ZonalAllocationFailed',
    reason: 'ZonalAllocationFailure',
    zones: thisZone,
    capacityTypes: bothTypes,
    duration: hour,
  },
  {
    code: 'AllocationFailed',
    reason: 'AllocationFailure',
    zones: scopeZones,
    capacityTypes: bothTypes,
    duration: hour,
  },
  {
    code: 'OverconstrainedZonalAllocationRequest',
    reason: 'OverconstrainedZonalAllocationFailure',
    zones: thisZone,
    capacityTypes: sameType,
    duration: hour,
  },
  {
    code: 'OverconstrainedAllocationRequest',
    reason: 'OverconstrainedAllocationFailure',
    zones: scopeZones,
    capacityTypes: sameType,
    duration: hour,
  },
  { code: 'OperationNotAllowed', text: /exceeding approved Total Regional Cores quota/, reason: undefined },
  // AKS's own checks before it asks compute.
  {
    code: 'VMSizeNotSupported',
    aksOnly: true,
    reason: 'SKUNotAvailable',
    zones: allZones,
    capacityTypes: bothTypes,
    duration: () => 23 * HOUR,
  },
  {
    code: 'BadRequest',
    text: /is not supported for subscription/,
    aksOnly: true,
    reason: 'SKUNotAvailable',
    zones: allZones,
    capacityTypes: bothTypes,
    duration: () => 23 * HOUR,
  },
];

const UNCLASSIFIED = 'CreateInstanceFailed';

/** Whether an offering was refused and is now avoided: another one may be available at once. */
export function isOfferingFailure(error: unknown): boolean {
  return error instanceof LaunchError && error.cause !== undefined && error.reason !== UNCLASSIFIED;
}

/** Records unavailable offerings, and returns the error to throw. */
export function interpretLaunchFailure(
  error: unknown,
  attempted: FailedAttempt,
  unavailable: UnavailableOfferings,
): Error {
  const failure = describeFailure(error);
  const { sku, offering, location, isAksMachine } = attempted;
  const rule = RULES.find(
    ({ code, text, aksOnly = false }) =>
      code === failure.code && (text?.test(failure.message) ?? true) && (isAksMachine || !aksOnly),
  );
  if (rule === undefined) return new LaunchError(UNCLASSIFIED, failure.message, { cause: error });
  const zones = zonesOf(sku, location);
  const attempt: Attempt = {
    sku,
    zone: offering.zone,
    capacityType: offering.capacityType === 'spot' ? 'spot' : 'on-demand',
    allZones: zones,
    scopeZones: zones.filter((zone) => placementScopeOf(zone) === placementScopeOf(offering.zone)),
  };
  const duration = rule.duration?.(attempt, failure.message) ?? 0;
  if (rule.allSpot === true) unavailable.markAllSpot(duration);
  for (const zone of rule.zones?.(attempt) ?? []) {
    for (const capacityType of rule.capacityTypes?.(attempt) ?? []) {
      unavailable.mark(sku, zone, capacityType, duration);
    }
  }
  if (rule.reason === undefined) return new InsufficientCapacityError(failure.message, { cause: error });
  return new LaunchError(rule.reason, failure.message, { cause: error });
}

/** For an operation that fails after it was accepted, the code is only in the text of the SDK's error. */
const LATE_FAILURE = /long-running operation has (?:failed|been canceled)\.?\s*(\w+)?\.?\s*(.*)$/s;

export function describeFailure(error: unknown): AzureFailure {
  const { code, message, statusCode } = (typeof error === 'object' && error !== null ? error : {}) as {
    readonly code?: unknown;
    readonly message?: unknown;
    readonly statusCode?: unknown;
  };
  const text = typeof message === 'string' ? message : String(error);
  const late = LATE_FAILURE.exec(text);
  const found = typeof code === 'string' && code !== '' ? code : late?.[1];
  return {
    code: found ?? 'UnknownError',
    message: late?.[2] === undefined || late[2] === '' ? text : late[2],
    statusCode: typeof statusCode === 'number' ? statusCode : undefined,
  };
}

export function isNotFound(error: unknown): boolean {
  return describeFailure(error).statusCode === 404;
}
