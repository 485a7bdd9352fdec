/**
 * The folder where a local world keeps what it must. In: a path. Out: a claim on it that a second instance respects,
 * and that a dead one does not hold.
 */
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { systemCode } from '../../errors/thrown.ts';

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
    if (!['EEXIST', 'ENOTDIR'].includes(systemCode(error) ?? '')) throw error;
    const data = { path, problem: 'this is a file', advice: 'give a directory as --state-dir' };
    throw new NodewrightError('StateDirectoryUnusable', data, { cause: error });
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
      if (systemCode(error) !== 'EEXIST') throw error;
    }
    const owner = Number(await readFile(lock, 'utf8').catch(() => '0'));
    if (owner > 0 && owner !== process.pid && isAlive(owner)) {
      throw new NodewrightError('StateDirectoryUnusable', {
        path,
        problem: `a local world is already running here (process ${owner})`,
        advice: 'stop it, or give this one another --state-dir',
      });
    }
    await rm(lock, { force: true });
  }
  const data = { path: lock, problem: 'cannot take this lock', advice: 'remove the file and try again' };
  throw new NodewrightError('StateDirectoryUnusable', data);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}
