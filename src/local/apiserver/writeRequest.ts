/** What goes with a write beside the object. */
import type { ApiObject, Fields } from './fields.ts';

export interface WriteRequest {
  readonly fieldManager: string;
  readonly dryRun: boolean;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  readonly subresource?: string | undefined;
  /** Fields that the request gave twice. */
  duplicates?(): readonly string[];
  /** How a patch reads in a refusal of its result; absent for whole objects. */
  readonly patchText?: ((changed: Fields) => string) | undefined;
  readonly patchKind?: string | undefined;
  /** Whether the writer may write this object: throws to refuse. */
  guard?(draft: ApiObject, live: ApiObject | undefined): void;
  /** Takes messages about what was accepted but is probably a mistake. */
  warn?(message: string): void;
}

/** A write by one of the server's own parts, under the name that upstream's part writes under. */
export function serverWrite(fieldManager: string, subresource?: string): WriteRequest {
  return { fieldManager, dryRun: false, fieldValidation: 'Ignore', subresource };
}
