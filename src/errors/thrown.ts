/** The only place where a caught `unknown` becomes an error or a text. */
import { InvariantError } from './invariantError.ts';
import { NodewrightError } from './nodewrightError.ts';

/** The thrown value itself when it is an error, else an error that quotes it. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** For a terminal: what happened, what to do, and the code to look up. */
export function describeThrown(thrown: unknown): string {
  if (isDefect(thrown)) return `internal error: ${thrown.message}; please report it`;
  const error = isSystemError(thrown) ? systemError(thrown) : thrown;
  if (!isOurs(error)) return othersWords(error);
  const { message, remedy, code } = error;
  return `${message}${message.includes('\n') ? '\n' : '; '}${remedy} [${code}]`;
}

/** JavaScript's own errors carry no code; those of Node and of libraries, which may be of the same class, do. */
function isDefect(thrown: unknown): thrown is Error {
  const isLanguage = thrown instanceof TypeError || thrown instanceof RangeError || thrown instanceof ReferenceError;
  return thrown instanceof InvariantError || (isLanguage && systemCode(thrown) === undefined);
}

const isSystemError = (thrown: unknown): thrown is NodeJS.ErrnoException =>
  thrown instanceof Error && 'syscall' in thrown && systemCode(thrown) !== undefined;

/** The last resort: code that knows what the path is for throws an error that says so. */
function systemError(cause: NodeJS.ErrnoException): NodewrightError {
  const { syscall = '', path = '' } = cause;
  return new NodewrightError('SystemCallFailed', { syscall, path, problem: systemProblem(cause) }, { cause });
}

/** Kubernetes and Azure answer in words of their own; the code is theirs, too. */
function othersWords(thrown: unknown): string {
  const word = textOf(thrown, 'reason') ?? systemCode(thrown);
  return word === undefined ? messageOf(thrown) : `${messageOf(thrown)} [${word}]`;
}

function textOf(thrown: unknown, field: string): string | undefined {
  const value: unknown = thrown instanceof Error ? Reflect.get(thrown, field) : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** `instanceof` alone leaves the code open. */
const isOurs = (thrown: unknown): thrown is NodewrightError => thrown instanceof NodewrightError;

/** `ENOENT`, `EACCES`, …: the code of an error of the operating system. */
export function systemCode(thrown: unknown): string | undefined {
  return textOf(thrown, 'code');
}

const SYSTEM_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENAMETOOLONG: 'the name is too long',
  EEXIST: 'something else has this name',
  EISDIR: 'this is a directory',
  ENOTDIR: 'a part of the path is not a directory',
  ENOSPC: 'no space is left on the device',
  EROFS: 'the file system is read-only',
};

/** As `systemProblem`, of a file that is to be made: what is missing then is its folder. */
export function writeProblem(thrown: unknown): string {
  return systemCode(thrown) === 'ENOENT' ? 'there is no such folder' : systemProblem(thrown);
}

/** The problem in plain words, without the path, which the caller names. */
export function systemProblem(thrown: unknown): string {
  return SYSTEM_PROBLEMS[systemCode(thrown) ?? ''] ?? messageOf(thrown);
}
