/** The header `BatchPutMachine`, which puts many machines in one PUT, and the error that lists the refused ones. */
import type { ArmError } from '../armError.ts';
import { listAt, textAt, textsAt } from '../jsonPath.ts';
import { aksRefusal } from './aksRefusal.ts';

export interface BatchEntry {
  readonly machineName: string;
  readonly zones: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
}

const MAX_MACHINES = 50;

/** Parses `{"batchMachines":[{"machineName":"a","zones":["1"],"tags":{}}]}`; undefined when the header is absent. */
export function parseBatch(header: string | string[] | undefined): readonly BatchEntry[] | undefined {
  if (header === undefined) return undefined;
  const entries = listAt(parse(Array.isArray(header) ? header.join(',') : header), 'batchMachines').map((entry) => ({
    machineName: textAt(entry, 'machineName') ?? '',
    zones: listAt(entry, 'zones').map(String),
    tags: textsAt(entry, 'tags'),
  }));
  const names = new Set(entries.map(({ machineName }) => machineName.toLowerCase()));
  if (entries.length > 0 && entries.length <= MAX_MACHINES && names.size === entries.length) return entries;
  throw aksRefusal('InvalidParameter.batch', { most: MAX_MACHINES, count: entries.length });
}

export function batchError(refusals: readonly { readonly target: string; readonly error: ArmError }[]): ArmError {
  const details = refusals.map(({ target, error }) => ({ code: error.code, message: error.message, target }));
  const fault = refusals.some(({ error }) => error.status < 500);
  if (fault) return aksRefusal('BatchMachineClientError', {}, { details });
  return aksRefusal('BatchMachineInternalServerError', { refused: JSON.stringify({ details }) });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw aksRefusal('InvalidParameter.batchJson');
  }
}
