/** The directory with the files of a local world; only one process at a time can use it. */
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { systemCode, systemProblem } from '../../errors/thrown.ts';

const OWNER_ONLY = 0o700;

/** Absolute paths. */
export interface StateDirectory {
  readonly kubeconfig: string;
  /** Variables and certificate for clients of the local Azure. */
  readonly azureEnvironment: string;
  readonly azureCertificate: string;
  readonly azureCloud: string;
  readonly log: string;
  /** Resource logs of managed clusters, as JSON lines. */
  readonly resourceLog: string;
  /** Address of the running world, for `nodewright fault`. */
  readonly control: string;
  /** Address of the page, for `nodewright dashboard`. */
  readonly dashboard: string;
  /** One folder per scenario. */
  readonly worlds: string;
  /** Removes files that are valid only while the process runs: addresses, secrets and the lock. */
  release(): Promise<void>;
}

export async function claimStateDirectory(path: string): Promise<StateDirectory> {
  await makeDirectory(path);
  const at = (name: string): string => resolve(join(path, name));
  const lock = at('pid');
  const [kubeconfig, control, dashboard] = [at('kubeconfig'), at('control'), at('dashboard.url')];
  const [azureEnvironment, azureCertificate, azureCloud] = [
    at('azure.env'),
    at('azure-ca.pem'),
    at('azure-cloud.json'),
  ];
  const removeAddresses = async (): Promise<void> => {
    const signIns = at('azure-cli');
    for (const file of [kubeconfig, control, dashboard, azureEnvironment, azureCertificate, azureCloud, signIns]) {
      await rm(file, { force: true, recursive: true });
    }
  };
  await writeLock(lock, path);
  // A killed process leaves addresses of a stopped server.
  await removeAddresses();
  return {
    kubeconfig,
    control,
    dashboard,
    azureEnvironment,
    azureCertificate,
    azureCloud,
    log: at('nodewright.log'),
    resourceLog: at('karpenter-events.jsonl'),
    worlds: at('worlds'),
    release: async () => {
      await removeAddresses();
      await rm(lock, { force: true });
    },
  };
}

/** Whether the world of the directory was killed: its lock and addresses still exist. */
export async function isKilledWorld(path: string): Promise<boolean> {
  const owner = await lockOwner(join(path, 'pid'));
  return owner > 0 && !isAlive(owner);
}

/** 0 if there is none. */
const lockOwner = async (lock: string): Promise<number> => Number(await readFile(lock, 'utf8').catch(() => '0'));

function unusable(path: string, problem: string, cause: unknown): NodewrightError {
  const advice = 'give a directory that this process may write as --state-dir';
  return new NodewrightError('StateDirectoryUnusable', { path, problem, advice }, { cause });
}

async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: OWNER_ONLY });
  } catch (error) {
    const isFile = ['EEXIST', 'ENOTDIR'].includes(systemCode(error) ?? '');
    throw unusable(path, isFile ? 'this is a file' : systemProblem(error), error);
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
      if (systemCode(error) !== 'EEXIST') throw unusable(path, systemProblem(error), error);
    }
    const owner = await lockOwner(lock);
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
