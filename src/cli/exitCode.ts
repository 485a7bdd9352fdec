/** What the process tells its caller. */
export const ExitCode = { ok: 0, failure: 1, usage: 2 } as const;

/** The command was called wrongly: the message says how, and the process ends with `ExitCode.usage`. */
export class UsageError extends Error {
  readonly code = 'WrongUsage';

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'UsageError';
  }
}
