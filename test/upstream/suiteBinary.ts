/**
 * Karpenter's regression suite as a program, of the version that this folder's `go.mod` pins, built once into the cache
 * that also holds the control plane.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheRoot, withLock } from '../controlplane/binaries.ts';

const SUITE = 'sigs.k8s.io/karpenter/test/suites/regression';
const BUILD_LIMIT_MILLISECONDS = 25 * 60_000;
const MAX_OUTPUT = 16 * 1024 * 1024;

export async function ensureSuite(report: (line: string) => void): Promise<string> {
  const program = await programPath();
  if (existsSync(program)) return program;
  await mkdir(dirname(program), { recursive: true });
  await withLock(`${program}.lock`, report, async () => {
    if (existsSync(program)) return;
    report(`building Karpenter's regression suite once into ${program} (a few minutes)`);
    await build(program);
  });
  return program;
}

async function build(program: string): Promise<void> {
  const unfinished = `${program}.${process.pid}`;
  const flags = ['test', '-c', '-trimpath', '-ldflags', '-s -w', '-o', unfinished, SUITE];
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' };
  const limits = { timeout: BUILD_LIMIT_MILLISECONDS, maxBuffer: MAX_OUTPUT };
  try {
    await promisify(execFile)('go', flags, { cwd: import.meta.dirname, env, ...limits });
  } catch (cause) {
    throw new Error("Karpenter's regression suite cannot be built; it needs Go 1.26 or newer on PATH.", { cause });
  }
  await rename(unfinished, program);
}

/** Keyed by the version for people, and by the exact module set for correctness. */
async function programPath(): Promise<string> {
  const modules = await readFile(join(import.meta.dirname, 'go.mod'), 'utf8');
  const sums = await readFile(join(import.meta.dirname, 'go.sum'));
  const version = /\bsigs\.k8s\.io\/karpenter (v\S+)/.exec(modules)?.[1];
  if (version === undefined) throw new Error('test/upstream/go.mod does not require sigs.k8s.io/karpenter.');
  const digest = createHash('sha256').update(modules).update(sums).digest('hex').slice(0, 12);
  const key = `${process.platform}-${process.arch}-${digest}`;
  return join(cacheRoot(), 'upstream', version, key, 'regression.test');
}
