/** The port for fault injection: LocalArm asks it before each operation. */
import type { ArmError } from './armError.ts';

export interface ArmOperation {
  /** `<resource type>.<verb>`, such as `virtualMachines.createOrUpdate` or `networkInterfaces.delete`. */
  readonly name: string;
  readonly resourceGroup: string | undefined;
  readonly resourceName: string | undefined;
  readonly body: unknown;
}

export type Fault =
  /** Refuse the request at once. */
  | { readonly kind: 'refuse'; readonly error: ArmError }
  /** Accept it, and let the long-running operation fail when it would have succeeded. */
  | { readonly kind: 'failLate'; readonly error: ArmError }
  /** Accept it, and let the long-running operation succeed later than it would have. */
  | { readonly kind: 'finishLate'; readonly milliseconds: number };

export interface FaultPlan {
  before(operation: ArmOperation): Fault | undefined;
}

export const NO_FAULTS: FaultPlan = { before: () => undefined };
