/** Exit codes of the process. */
export const ExitCode = { ok: 0, failure: 1, usage: 2 } as const;
