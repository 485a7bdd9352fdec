/** The real kubectl at both servers: the same lines printed, the same exit codes. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureBinaries } from '../../controlplane/binaries.ts';
import { words, type Case, type Command } from './commands/command.ts';
import { table } from './commands/table.ts';
import { covers, readKnownDifferences } from './knownDifferences.ts';
import { differences, Normaliser, type Difference } from './normalise.ts';
import { startLocalWorld, startRealWorld, type World } from './worlds.ts';

const RETRIES = 40;
const known = readKnownDifferences('kubectl');
const met = new Set<number>();
let real: World;
let local: World;

beforeAll(async () => {
  real = await startRealWorld();
  local = await startLocalWorld((await ensureBinaries()).kubectl);
}, 300_000);

afterAll(async () => {
  await local?.stop();
  await real?.stop();
});

async function runCase(world: World, one: Case): Promise<unknown[]> {
  const normaliser = new Normaliser(world.url);
  const namespace = `kubectl-${createHash('sha256').update(one.name).digest('hex').slice(0, 6)}`;
  await runCommand(world, { line: `create namespace ${namespace}` }, 'default');
  await runCommand(world, { line: 'get serviceaccount default', retry: true }, namespace);
  const printed: unknown[] = [];
  for (const command of one.commands) {
    const outcome = await runCommand(world, command, namespace);
    if (command.quiet === true) {
      if (outcome.code !== 0) throw new Error(`${one.name}: ${command.line}: ${outcome.stderr}`);
      continue;
    }
    const lines = (text: string): string[] => {
      const all = normaliser.printed(text).split('\n');
      return command.sorted === true ? all.sort() : all;
    };
    printed.push({ code: outcome.code, stdout: lines(outcome.stdout), stderr: lines(outcome.stderr) });
  }
  return printed;
}

async function runCommand(
  world: World,
  command: Command,
  namespace: string,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const inNamespace = (text: string): string => text.replaceAll(/\bNS\b/g, namespace);
  const args = ['-n', namespace, ...words(command.line).map(inNamespace)];
  const call = {
    input: command.input === undefined ? undefined : inNamespace(command.input),
    environment: { KUBE_EDITOR: command.editor ?? 'false', COLUMNS: '200' },
  };
  for (let attempt = 1; ; attempt++) {
    const outcome = await world.kubectl(args, call);
    if (command.retry !== true || outcome.code === 0 || attempt >= RETRIES) return outcome;
    await sleep(250);
  }
}

describe('kubectl', () => {
  it('is tried with enough command lines, under names of their own', () => {
    expect(new Set(table.map((one) => one.name)).size).toBe(table.length);
    const lines = table.flatMap((one) => one.commands.filter((command) => command.quiet !== true));
    expect(lines.length).toBeGreaterThanOrEqual(100);
  });

  for (const one of table) {
    it(`${one.name}`, async () => {
      const [ours, theirs] = [await runCase(local, one), await runCase(real, one)];
      const unexplained: Difference[] = [];
      for (const difference of differences(ours, theirs)) {
        const explained = known.findIndex((entry) => covers(entry, one.name, difference));
        if (explained < 0) unexplained.push(difference);
        else met.add(explained);
      }
      expect(unexplained).toEqual([]);
    });
  }

  it('meets every listed difference, so that the list can only shrink', (context) => {
    if (context.task.file.tasks.some((task) => task.mode === 'skip')) return;
    expect(known.filter((_, index) => !met.has(index))).toEqual([]);
  });
});
