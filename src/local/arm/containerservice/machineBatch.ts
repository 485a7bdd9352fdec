/** The header `BatchPutMachine`: many machines in one PUT, and the error for those that were refused. */
import type { ArmError } from '../armError.ts';
import { listAt, textAt, textsAt } from '../jsonPath.ts';
import { aksError } from './aksError.ts';

export interface BatchEntry {
  readonly machineName: string;
  readonly zones: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
}

const MAX_MACHINES = 50;

/** `{"batchMachines":[{"machineName":"a","zones":["1"],"tags":{}}]}`; undefined when the header is absent. */
export function parseBatch(header: string | string[] | undefined): readonly BatchEntry[] | undefined {
  if (header === undefined) return undefined;
  const entries = listAt(parse(Array.isArray(header) ? header.join(',') : header), 'batchMachines').map((entry) => ({
    machineName: textAt(entry, 'machineName') ?? '',
    zones: listAt(entry, 'zones').map(String),
    tags: textsAt(entry, 'tags'),
  }));
  const names = new Set(entries.map(({ machineName }) => machineName.toLowerCase()));
  if (entries.length > 0 && entries.length <= MAX_MACHINES && names.size === entries.length) return entries;
  throw aksError(
    400,
    'InvalidParameter',
    `The header BatchPutMachine must name between 1 and ${MAX_MACHINES} machines, each once; it names ${entries.length}.`,
  );
}

export function batchError(refusals: readonly { readonly target: string; readonly error: ArmError }[]): ArmError {
  const details = refusals.map(({ target, error }) => ({ code: error.code, message: error.message, target }));
  const fault = refusals.some(({ error }) => error.status < 500);
  if (fault) return aksError(400, 'BatchMachineClientError', 'Some machines of the batch were refused.', { details });
  return aksError(500, 'BatchMachineInternalServerError', JSON.stringify({ details }));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw aksError(400, 'InvalidParameter', 'The header BatchPutMachine is not valid JSON.');
  }
}
