/**
 * The child processes of one control plane, with logs in files. All of them end, and their folder goes, when this
 * process ends in whatever way.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface RunningProcess {
  readonly name: string;
  readonly pid: number;
  exited(): boolean;
  /** Sends the signal, waits, and kills what is still there after the grace period. */
  stop(signal: NodeJS.Signals, graceMilliseconds?: number): Promise<void>;
  /** The last lines of its log, for error messages. */
  logTail(): Promise<string>;
}

export interface ProcessGroup {
  start(name: string, program: string, flags: readonly string[]): RunningProcess;
  stopAll(): Promise<void>;
}

/**
 * The guard reads the living process ids from a pipe, one complete set per line. The pipe closes when this process is
 * gone, even by SIGKILL, and then the guard ends the last set it heard of and removes the folder.
 */
const guardScript = 'while read -r line; do pids=$line; done; [ -n "$pids" ] && kill -9 $pids; rm -rf "$1"';

export function createProcessGroup(workDirectory: string): ProcessGroup {
  // Own sessions, so that Ctrl-C in a terminal reaches only the owner, which then stops things in order.
  const guard = spawn('sh', ['-c', guardScript, 'guard', workDirectory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const living = new Map<number, ChildProcess>();
  const tellGuard = (): void => {
    if (guard.stdin.writable) guard.stdin.write(`${[...living.keys()].join(' ')}\n`);
  };

  return {
    start(name, program, flags) {
      const logPath = join(workDirectory, `${name}.log`);
      const log = openSync(logPath, 'a');
      const child = spawn(program, flags, { detached: true, cwd: workDirectory, stdio: ['ignore', log, log] });
      closeSync(log);
      const { pid } = child;
      if (pid === undefined) throw new Error(`Could not start ${basename(program)} at ${program}.`);
      living.set(pid, child);
      tellGuard();
      child.once('exit', () => {
        living.delete(pid);
        tellGuard();
      });
      return {
        name,
        pid,
        exited: () => hasExited(child),
        stop: (signal, graceMilliseconds = 5000) => end(child, signal, graceMilliseconds),
        logTail: () => tailOf(logPath),
      };
    },
    async stopAll() {
      await Promise.all([...living.values()].map((child) => end(child, 'SIGKILL', 5000)));
      // Wait for the guard: it removes the folder too, and must not do so while the caller still uses it.
      const gone = hasExited(guard) ? Promise.resolve() : once(guard, 'exit');
      guard.stdin.end();
      await gone;
    },
  };
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function end(child: ChildProcess, signal: NodeJS.Signals, graceMilliseconds: number): Promise<void> {
  if (hasExited(child)) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await Promise.race([gone, sleep(graceMilliseconds, undefined, { ref: false })]);
  if (!hasExited(child)) child.kill('SIGKILL');
  await gone;
}

async function tailOf(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-25).join('\n');
}
