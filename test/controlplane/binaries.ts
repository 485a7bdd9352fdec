/**
 * Finds the control plane's programs: from `KUBEBUILDER_ASSETS`, or built with Go once per version into a cache outside
 * the repository.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export interface Binaries {
  readonly directory: string;
  readonly etcd: string;
  readonly apiServer: string;
  readonly kubectl: string;
  /** Absent only when `KUBEBUILDER_ASSETS` points at a folder without it. */
  readonly scheduler: string | undefined;
  readonly controllerManager: string | undefined;
}

type Report = (line: string) => void;

const moduleDirectory = dirname(fileURLToPath(import.meta.url));
const required = ['etcd', 'kube-apiserver', 'kubectl'] as const;
const optional = ['kube-scheduler', 'kube-controller-manager'] as const;
const lockWaitMilliseconds = 30 * 60_000;
const abandonedAfterMilliseconds = 60 * 60_000;
const progressEveryMilliseconds = 15_000;

/** Finds the programs, building them first when this version was never built on this machine. */
export async function ensureBinaries(report: Report = () => {}): Promise<Binaries> {
  const assets = process.env['KUBEBUILDER_ASSETS'];
  if (assets !== undefined && assets !== '') {
    const missing = required.filter((name) => !existsSync(join(assets, name)));
    if (missing.length > 0) {
      throw new Error(`KUBEBUILDER_ASSETS is set to ${assets}, but that folder lacks ${missing.join(', ')}.`);
    }
    return binariesIn(assets);
  }
  const target = await cacheDirectory();
  if (existsSync(target)) return binariesIn(target);
  const goVersion = await findGo();
  report(`building the control plane once with ${goVersion} into ${target} (a few minutes)`);
  await mkdir(dirname(target), { recursive: true });
  await withLock(`${target}.lock`, report, async () => {
    if (!existsSync(target)) await build(target, report);
  });
  return binariesIn(target);
}

function binariesIn(directory: string): Binaries {
  const [scheduler, controllerManager] = optional.map((name) => {
    const path = join(directory, name);
    return existsSync(path) ? path : undefined;
  });
  return {
    directory,
    etcd: join(directory, 'etcd'),
    apiServer: join(directory, 'kube-apiserver'),
    kubectl: join(directory, 'kubectl'),
    scheduler,
    controllerManager,
  };
}

async function kubernetesVersion(): Promise<string> {
  const text = await readFile(join(moduleDirectory, 'go.mod'), 'utf8');
  const version = /^\s*k8s\.io\/kubernetes (v\d+\.\d+\.\d+)\b/m.exec(text)?.[1];
  if (version === undefined) throw new Error('test/controlplane/go.mod does not require k8s.io/kubernetes.');
  return version;
}

/** Keyed by the Kubernetes version for people, and by the exact module set for correctness. */
async function cacheDirectory(): Promise<string> {
  const version = await kubernetesVersion();
  const sums = await readFile(join(moduleDirectory, 'go.sum'));
  const modules = await readFile(join(moduleDirectory, 'go.mod'));
  const digest = createHash('sha256').update(modules).update(sums).digest('hex').slice(0, 12);
  return join(cacheRoot(), 'controlplane', version, `${process.platform}-${process.arch}-${digest}`);
}

/** Where things that take long to build are kept between runs. */
export function cacheRoot(): string {
  const xdg = process.env['XDG_CACHE_HOME'];
  return join(xdg !== undefined && xdg !== '' ? xdg : join(homedir(), '.cache'), 'nodewright');
}

async function findGo(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('go', ['env', 'GOVERSION'], { cwd: moduleDirectory });
    return stdout.trim();
  } catch (cause) {
    throw new Error(
      'A real control plane is needed here: put Go 1.26 or newer on PATH so that it can be built once, or set ' +
        'KUBEBUILDER_ASSETS to a folder that holds etcd, kube-apiserver and kubectl.',
      { cause },
    );
  }
}

/** Builds into a neighbouring folder and renames it, so a folder at `target` is always complete. */
async function build(target: string, report: Report): Promise<void> {
  const version = await kubernetesVersion();
  await removeAbandonedBuilds(target);
  const temporary = await mkdtemp(`${target}.building-`);
  try {
    await compile(temporary, version, report);
    // etcd's main package is the root of its server module, so Go names the program after that module.
    await rename(join(temporary, 'server'), join(temporary, 'etcd'));
    await rename(temporary, target).catch((error: unknown) => {
      if (!existsSync(target)) throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  report(`built Kubernetes ${version}`);
}

/** What interrupted builds left. Young ones stay: a process that cannot see our lock may be at work in them. */
async function removeAbandonedBuilds(target: string): Promise<void> {
  const parent = dirname(target);
  for (const name of await readdir(parent)) {
    const path = join(parent, name);
    if (!name.includes('.building-')) continue;
    if (Date.now() - (await stat(path)).mtimeMs > abandonedAfterMilliseconds) await rm(path, { recursive: true });
  }
}

async function compile(outputDirectory: string, version: string, report: Report): Promise<void> {
  const [major, minor] = version.slice(1).split('.');
  const stamps = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  const linkerFlags = ['-s', '-w'];
  for (const [key, value] of Object.entries(stamps)) {
    for (const module of ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version']) {
      linkerFlags.push(`-X ${module}.${key}=${value}`);
    }
  }
  const flags = ['build', '-v', '-trimpath', '-ldflags', linkerFlags.join(' '), '-o', `${outputDirectory}/`, 'tool'];
  const started = performance.now();
  const child = spawn('go', flags, {
    cwd: moduleDirectory,
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let lines = 0;
  const tail: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines += 1;
    tail.push(line);
    if (tail.length > 40) tail.shift();
  });
  const progress = setInterval(() => {
    const seconds = Math.round((performance.now() - started) / 1000);
    report(`building: ${lines} packages and modules after ${seconds} s`);
  }, progressEveryMilliseconds);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (code !== 0) throw new Error(`go build of the control plane failed:\n${tail.join('\n')}`);
  } finally {
    clearInterval(progress);
  }
}

/**
 * One builder at a time. The lock only saves work: the final rename decides, so a lock that is wrongly taken over
 * (its owner lives in another container, say) costs a second build and nothing else.
 */
export async function withLock(path: string, report: Report, action: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + lockWaitMilliseconds;
  let announced = false;
  while (!(await tryLock(path))) {
    if (performance.now() > deadline) throw new Error(`Another build still holds ${path}; delete it if none runs.`);
    const owner = Number(await readFile(path, 'utf8').catch(() => ''));
    if (owner > 0 && !isAlive(owner)) {
      await rm(path, { force: true });
      continue;
    }
    if (!announced) report(`waiting for the build of process ${owner}`);
    announced = true;
    await sleep(500);
  }
  try {
    await action();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(String(process.pid));
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
