/** Every error that can reach a user, by its code. Codes are stable: scripts and dashboards may match them. */
import { cloudErrors } from './cloudErrors.ts';
import { clusterErrors } from './clusterErrors.ts';
import { commandErrors } from './commandErrors.ts';
import type { ErrorEntry } from './errorEntry.ts';
import { processErrors } from './processErrors.ts';

export const errorGroups = {
  'Command line': commandErrors,
  'Kubernetes API': clusterErrors,
  Cloud: cloudErrors,
  Process: processErrors,
} as const;

const catalogue = { ...commandErrors, ...clusterErrors, ...cloudErrors, ...processErrors };

export type ErrorCode = keyof typeof catalogue;
export type ErrorData<Code extends ErrorCode> = (typeof catalogue)[Code] extends ErrorEntry<infer Data> ? Data : never;

/** The entry of a code, without the type of its data. */
export function entryOf(code: ErrorCode): ErrorEntry<unknown> {
  return catalogue[code] as ErrorEntry<unknown>;
}
