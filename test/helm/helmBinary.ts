/** Finds helm, built with Go once per version into a cache outside the repository. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheRoot, withLock } from '../controlplane/binaries.ts';

const run = promisify(execFile);
const modules = import.meta.dirname;

/** The path of the program. Without Go this fails: a chart that was not checked is not a chart that passed. */
export async function ensureHelm(report: (line: string) => void = () => {}): Promise<string> {
  const digest = createHash('sha256');
  for (const name of ['go.mod', 'go.sum']) digest.update(await readFile(join(modules, name)));
  const version = `${process.platform}-${process.arch}-${digest.digest('hex').slice(0, 12)}`;
  const target = join(cacheRoot(), 'helm', version);
  if (!existsSync(target)) {
    report(`building helm once into ${target} (a minute or two)`);
    await mkdir(dirname(target), { recursive: true });
    await withLock(`${target}.lock`, report, async () => {
      if (!existsSync(target)) await build(target);
    });
  }
  return join(target, 'helm');
}

/** Builds into a neighbouring folder and renames it, so a folder at `target` is always complete. */
async function build(target: string): Promise<void> {
  const temporary = await mkdtemp(`${target}.building-`);
  try {
    await run('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', `${temporary}/`, 'tool'], {
      cwd: modules,
      env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
      maxBuffer: 2 ** 26,
    });
    await rename(temporary, target);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
