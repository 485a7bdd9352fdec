/** Runs one case with the real kubectl and returns its output, line by line, with variable parts normalized. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubectlResult } from '../../../controlplane/kubectl.ts';
import { Normaliser } from '../normalise.ts';
import { prepareNamespace } from '../script.ts';
import type { World } from '../worlds.ts';
import { words, type Case, type Command } from './command.ts';

const ATTEMPTS = 80;
const PAUSE_MILLISECONDS = 125;

/** The same at both servers, and no other case's. */
function namespaceOf(one: Case): string {
  return `kubectl-${createHash('sha256').update(one.name).digest('hex').slice(0, 6)}`;
}

export async function runCase(world: World, one: Case, namespace = namespaceOf(one)): Promise<unknown[]> {
  const normaliser = new Normaliser(world.url);
  await prepareNamespace(world, namespace);
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
    printed.push({
      line: command.line,
      code: outcome.code,
      stdout: lines(outcome.stdout),
      stderr: lines(outcome.stderr),
    });
  }
  return printed;
}

async function runCommand(world: World, command: Command, namespace: string): Promise<KubectlResult> {
  const inNamespace = (text: string): string => text.replaceAll(/\bNS\b/g, namespace);
  const args = ['-n', namespace, ...words(command.line).map(inNamespace)];
  const call = {
    input: command.input === undefined ? undefined : inNamespace(command.input),
    environment: { KUBE_EDITOR: command.editor ?? 'false', COLUMNS: '200' },
  };
  for (let attempt = 1; ; attempt++) {
    const outcome = await world.kubectl(args, call);
    if (command.retry !== true || outcome.code === 0 || attempt >= ATTEMPTS) return outcome;
    await sleep(PAUSE_MILLISECONDS);
  }
}
