/**
 * Programs of Karpenter at the version that the `go.mod` beside this pins, built once with Go into a cache outside the
 * repository. Keyed by their exact source and modules.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const SOURCE = join(import.meta.dirname, 'karpenter');
const BUILD_LIMIT_MILLISECONDS = 20 * 60_000;
/** Packages by the name of the program. */
const PACKAGES = { karpenter: '.', 'karpenter-kwok': 'sigs.k8s.io/karpenter/kwok' };

/** Where the program is, or one line that says why it cannot be had. */
export async function builtPeer(
  name: keyof typeof PACKAGES,
  report: (line: string) => void,
): Promise<{ readonly program: string } | string> {
  const program = await programPath(name);
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
    await run('go', ['build', '-o', unfinished, PACKAGES[name]], limits);
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).trim().split('\n').slice(-1);
    return `Karpenter is not measured: it could not be built (${line}).`;
  }
  await rename(unfinished, program);
  return { program };
}

async function programPath(name: string): Promise<string> {
  const digest = createHash('sha256');
  for (const file of ['main.go', 'go.mod', 'go.sum']) digest.update(await readFile(join(SOURCE, file)));
  const xdg = process.env['XDG_CACHE_HOME'];
  const cache = xdg !== undefined && xdg !== '' ? xdg : join(homedir(), '.cache');
  const key = `${process.platform}-${process.arch}-${digest.digest('hex').slice(0, 12)}`;
  return join(cache, 'nodewright', 'peers', 'karpenter', key, name);
}
