/**
 * Karpenter's regression suite and its kwok controller as programs, of the version that this folder's `go.mod` pins, built
 * once into the cache that also holds the control plane.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheRoot, withLock } from '../controlplane/binaries.ts';

const MODULE = 'sigs.k8s.io/karpenter';
/** The words of `go` that make each of them. */
const PROGRAMS = {
  'regression.test': ['test', '-c', `${MODULE}/test/suites/regression`],
  'karpenter-kwok': ['build', `${MODULE}/kwok`],
} as const;
const BUILD_LIMIT_MILLISECONDS = 25 * 60_000;
const MAX_OUTPUT = 16 * 1024 * 1024;

type Report = (line: string) => void;

export const ensureSuite = (report: Report): Promise<string> => ensureProgram('regression.test', report);

/** Karpenter itself, with Node objects as instances. */
export const ensureKarpenter = (report: Report): Promise<string> => ensureProgram('karpenter-kwok', report);

/** The folders of Karpenter's own definitions. */
export async function karpenterDefinitions(): Promise<readonly string[]> {
  const { stdout } = await go(['list', '-m', '-f', '{{.Dir}}', MODULE]);
  return ['pkg/apis/crds', 'kwok/apis/crds'].map((folder) => join(stdout.trim(), folder));
}

async function ensureProgram(name: keyof typeof PROGRAMS, report: Report): Promise<string> {
  const program = await programPath(name);
  if (existsSync(program)) return program;
  await mkdir(dirname(program), { recursive: true });
  await withLock(`${program}.lock`, report, async () => {
    if (existsSync(program)) return;
    report(`building Karpenter's ${name} once into ${program} (a few minutes)`);
    await build(name, program);
  });
  return program;
}

async function build(name: keyof typeof PROGRAMS, program: string): Promise<void> {
  const unfinished = `${program}.${process.pid}`;
  const [verb, ...words] = PROGRAMS[name];
  try {
    await go([verb, '-trimpath', '-ldflags', '-s -w', '-o', unfinished, ...words]);
  } catch (cause) {
    throw new Error(`Karpenter's ${name} cannot be built; it needs Go 1.26 or newer on PATH.`, { cause });
  }
  await rename(unfinished, program);
}

function go(words: readonly string[]): Promise<{ readonly stdout: string }> {
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' };
  const limits = { timeout: BUILD_LIMIT_MILLISECONDS, maxBuffer: MAX_OUTPUT };
  return promisify(execFile)('go', words, { cwd: import.meta.dirname, env, ...limits });
}

/** Keyed by the version for people, and by the exact module set for correctness. */
async function programPath(name: string): Promise<string> {
  const modules = await readFile(join(import.meta.dirname, 'go.mod'), 'utf8');
  const sums = await readFile(join(import.meta.dirname, 'go.sum'));
  const version = /\bsigs\.k8s\.io\/karpenter (v\S+)/.exec(modules)?.[1];
  if (version === undefined) throw new Error('test/upstream/go.mod does not require sigs.k8s.io/karpenter.');
  const digest = createHash('sha256').update(modules).update(sums).digest('hex').slice(0, 12);
  const key = `${process.platform}-${process.arch}-${digest}`;
  return join(cacheRoot(), 'upstream', version, key, name);
}
