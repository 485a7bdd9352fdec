import { entry } from './errorEntry.ts';

/** Errors of the process itself: ports and logs. */
export const processErrors = {
  PortUnavailable: entry<{
    readonly purpose: string;
    readonly port: number;
    readonly problem: string;
    /** How to choose another port: `--metrics-port or METRICS_PORT`. */
    readonly setting: string;
  }>({
    exit: 'failure',
    about: 'A port that the process must listen on cannot be used.',
    where: ({ purpose, port }) => `port ${port} for ${purpose}`,
    what: ({ problem }) => problem,
    remedy: ({ setting }) => `choose another with ${setting}`,
    example: { purpose: 'metrics', port: 8080, problem: 'another process listens there', setting: '--metrics-port' },
  }),
  LogPathUnusable: entry<{ readonly path: string; readonly problem: string }>({
    exit: 'failure',
    about: 'A log file that --log-output-paths or --log-error-output-paths names cannot be written.',
    where: ({ path }) => path,
    what: ({ problem }) => `cannot write the log here: ${problem}`,
    remedy: () => 'give a path that this process may write, or stdout or stderr',
    example: { path: '/var/log/nodewright.log', problem: 'permission denied' },
  }),
  SystemCallFailed: entry<{ readonly syscall: string; readonly path: string; readonly problem: string }>({
    exit: 'failure',
    about: 'The operating system refused a call, and no other error says what it was for.',
    where: ({ path }) => (path === '' ? 'the operating system' : path),
    what: ({ problem, syscall }) => `${syscall} failed: ${problem}`,
    remedy: () => 'check that this process may do that; LOG_LEVEL=debug shows where it happened',
    example: { syscall: 'open', path: '/var/lib/nodewright', problem: 'permission denied' },
  }),
  LedgerUnusable: entry<{ readonly directory: string; readonly problem: string }>({
    exit: 'failure',
    about: 'The directory that --ledger-dir names cannot be read or written.',
    where: ({ directory }) => directory,
    what: ({ problem }) => `cannot keep the ledger here: ${problem}`,
    remedy: () => 'give a directory that this process may write, or none',
    example: { directory: '/var/lib/nodewright/ledger', problem: 'permission denied' },
  }),
};
