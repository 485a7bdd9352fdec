/**
 * The folder where a local world keeps what it must. In: a path. Out: a claim on it that a second instance respects,
 * and that a dead one does not hold.
 */
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

const OWNER_ONLY = 0o700;

export interface StateDirectory {
  readonly kubeconfig: string;
  readonly log: string;
  /** Where `nodewright fault` finds the running world. */
  readonly control: string;
  /** A folder for each scenario's world. */
  readonly worlds: string;
  /** Removes what would mislead once the world is gone: the kubeconfig and the claim. */
  release(): Promise<void>;
}

export async function claimStateDirectory(path: string): Promise<StateDirectory> {
  await makeDirectory(path);
  const lock = join(path, 'pid');
  const kubeconfig = join(path, 'kubeconfig');
  const control = join(path, 'control');
  await writeLock(lock, path);
  // Left by an instance that was killed: nobody answers there any more.
  await rm(kubeconfig, { force: true });
  await rm(control, { force: true });
  return {
    kubeconfig,
    control,
    log: join(path, 'nodewright.log'),
    worlds: join(path, 'worlds'),
    release: async () => {
      await rm(kubeconfig, { force: true });
      await rm(control, { force: true });
      await rm(lock, { force: true });
    },
  };
}

async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: OWNER_ONLY });
  } catch (error) {
    if (!hasCode(error, 'EEXIST') && !hasCode(error, 'ENOTDIR')) throw error;
    throw new Error(`${path} is a file; give a directory as --state-dir`, { cause: error });
  }
}

async function writeLock(lock: string, path: string): Promise<void> {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const file = await open(lock, 'wx');
      await file.writeFile(`${process.pid}\n`);
      await file.close();
      return;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
    const owner = Number(await readFile(lock, 'utf8').catch(() => '0'));
    if (owner > 0 && owner !== process.pid && isAlive(owner)) {
      throw new Error(
        `a local world is running in ${path} already (process ${owner}); stop it, or give this one another --state-dir`,
      );
    }
    await rm(lock, { force: true });
  }
  throw new Error(`${lock} cannot be claimed; remove it and try again`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
