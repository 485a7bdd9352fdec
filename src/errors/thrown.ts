/** The only place where a caught `unknown` becomes an error or a text. */
import { InvariantError } from './invariantError.ts';
import { NodewrightError } from './nodewrightError.ts';

/** The thrown value if it is an error, otherwise an error that quotes it. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** For a terminal: what happened, what to do, and the code to look up. */
export function describeThrown(thrown: unknown): string {
  if (thrown instanceof InvariantError) return `internal error: ${thrown.message}; please report it`;
  if (!isOurs(thrown)) return messageOf(thrown);
  const { message, remedy, code } = thrown;
  return `${message}${message.includes('\n') ? '\n' : '; '}${remedy} [${code}]`;
}

/** `instanceof` alone does not narrow the code. */
const isOurs = (thrown: unknown): thrown is NodewrightError => thrown instanceof NodewrightError;

/** `ENOENT`, `EACCES`, …: the code of an error of the operating system. */
export function systemCode(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}

const SYSTEM_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'this is a directory',
  ENOTDIR: 'a part of the path is not a directory',
  ENOSPC: 'no space is left on the device',
  EROFS: 'the file system is read-only',
};

/** The problem in plain words, without the path, which the caller adds. */
export function systemProblem(thrown: unknown): string {
  return SYSTEM_PROBLEMS[systemCode(thrown) ?? ''] ?? messageOf(thrown);
}
