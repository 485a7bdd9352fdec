import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { eventually } from '../controlplane/eventually.ts';

type Command = ChildProcessByStdio<null, Readable, Readable>;

function start(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Command {
  const script = ['--import', 'tsx', 'test/controlplane/main.ts', ...args];
  return spawn(process.execPath, script, { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

function exitOf(command: Command): Promise<number | string | null> {
  return new Promise((resolve) => command.once('exit', (code, signal) => resolve(code ?? signal)));
}

async function workDirectoryOf(command: Command): Promise<string> {
  for await (const line of createInterface({ input: command.stdout })) {
    const kubeconfig = /^export KUBECONFIG=(.+)$/.exec(line)?.[1];
    if (kubeconfig !== undefined) return dirname(kubeconfig);
  }
  throw new Error('The command ended without printing a kubeconfig.');
}

describe('the control plane command', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('stops cleanly on %s', async (signal) => {
    const command = start([]);
    const exit = exitOf(command);
    const directory = await workDirectoryOf(command);
    expect(existsSync(join(directory, 'admin.kubeconfig'))).toBe(true);
    command.kill(signal);
    expect(await exit).toBe(0);
    expect(existsSync(directory)).toBe(false);
  });

  it('leaves nothing behind when it is killed', async () => {
    const command = start([]);
    const directory = await workDirectoryOf(command);
    const children = await processesIn(directory);
    expect(children.length).toBeGreaterThanOrEqual(2);
    command.kill('SIGKILL');
    await eventually('the folder and the processes are gone', async () =>
      !existsSync(directory) && (await processesIn(directory)).length === 0 ? true : undefined,
    );
  });

  it('says what to do when there is neither Go nor a folder of programs', async () => {
    const cache = await mkdtemp(join(tmpdir(), 'nodewright-cache-'));
    const command = start(['--build-only'], { PATH: '/nonexistent', XDG_CACHE_HOME: cache });
    const [exit, message] = await Promise.all([exitOf(command), text(command.stderr)]);
    expect(exit).toBe(1);
    expect(message.trim().split('\n')).toEqual([
      expect.stringMatching(/put Go .* on PATH .* or set KUBEBUILDER_ASSETS/),
    ]);
    await rm(cache, { recursive: true });
  });

  it('names what a folder of programs lacks', async () => {
    const command = start(['--build-only'], { ...process.env, KUBEBUILDER_ASSETS: '/nonexistent' });
    const [exit, message] = await Promise.all([exitOf(command), text(command.stderr)]);
    expect(exit).toBe(1);
    expect(message).toContain('/nonexistent, but that folder lacks etcd, kube-apiserver, kubectl');
  });
});

/** Ids of processes whose command line names the folder, other than the guard, which only waits for the end. */
async function processesIn(directory: string): Promise<string[]> {
  const listing = spawn('ps', ['-eo', 'pid=,args='], { stdio: ['ignore', 'pipe', 'ignore'] });
  const lines = (await text(listing.stdout)).split('\n');
  return lines.filter((line) => line.includes(directory) && !line.includes('guard'));
}
