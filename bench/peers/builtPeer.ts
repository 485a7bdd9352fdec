/**
 * Programs for comparison: Karpenter's scheduler as its own program, at the version pinned in the `go.mod` next to this
 * file, and Karpenter's whole controller. Built once with Go into a cache outside the repository.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ensureKarpenter } from '../../test/upstream/suiteBinary.ts';

const SOURCE = join(import.meta.dirname, 'karpenter');
const BUILD_LIMIT_MILLISECONDS = 20 * 60_000;

type Report = (line: string) => void;

/** Path of the program, or one line that says why it is not available. */
type Built = { readonly program: string } | string;

/** Karpenter's controller with Node objects as instances. */
export async function builtController(report: Report): Promise<Built> {
  try {
    return { program: await ensureKarpenter(report) };
  } catch (error) {
    return `Karpenter is not measured: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Karpenter's scheduler. */
export async function builtScheduler(report: Report): Promise<Built> {
  const program = await programPath();
  if (existsSync(program)) return { program };
  const run = promisify(execFile);
  try {
    await run('go', ['version']);
  } catch {
    return 'Karpenter is not measured: there is no Go on PATH to build it with.';
  }
  report('building Karpenter once (a few minutes)');
  await mkdir(dirname(program), { recursive: true });
  const unfinished = `${program}.${process.pid}`;
  try {
    const limits = { cwd: SOURCE, timeout: BUILD_LIMIT_MILLISECONDS };
    await run('go', ['build', '-o', unfinished, '.'], limits);
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).trim().split('\n').slice(-1);
    return `Karpenter is not measured: it could not be built (${line}).`;
  }
  await rename(unfinished, program);
  return { program };
}

/** Keyed by its exact source and modules. */
async function programPath(): Promise<string> {
  const digest = createHash('sha256');
  for (const file of ['main.go', 'problems.go', 'go.mod', 'go.sum']) digest.update(await readFile(join(SOURCE, file)));
  const xdg = process.env['XDG_CACHE_HOME'];
  const cache = xdg !== undefined && xdg !== '' ? xdg : join(homedir(), '.cache');
  const key = `${process.platform}-${process.arch}-${digest.digest('hex').slice(0, 12)}`;
  return join(cache, 'nodewright', 'peers', 'karpenter', key, 'karpenter');
}
