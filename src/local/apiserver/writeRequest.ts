/** The parameters of a write. */
import type { ApiObject, Fields } from './fields.ts';

export interface WriteRequest {
  readonly fieldManager: string;
  readonly dryRun: boolean;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  readonly subresource?: string | undefined;
  /** Returns the duplicate fields of the body. */
  duplicates?(): readonly string[];
  /** For patches: returns the text of the patch for errors about its result. */
  readonly patchText?: ((changed: Fields) => string) | undefined;
  readonly patchKind?: string | undefined;
  /** Throws if the writer is not authorized to write this object. */
  guard?(draft: ApiObject, live: ApiObject | undefined): void;
  /** Receives warnings about accepted values that are probably mistakes. */
  warn?(message: string): void;
}

/** Returns the parameters of a write by a part of the server, with the field manager of upstream's part. */
export function serverWrite(fieldManager: string, subresource?: string): WriteRequest {
  return { fieldManager, dryRun: false, fieldValidation: 'Ignore', subresource };
}
