/**
 * A real Kubernetes control plane on loopback for tests, with kubeconfigs for any user, kubectl, and switches for the
 * failures that clients must survive.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { ensureBinaries } from './binaries.ts';
import type { Binaries } from './binaries.ts';
import { createCertificateAuthority } from './certificates.ts';
import { compactToCurrentRevision, isEtcdHealthy } from './etcdGateway.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { runKubectl } from './kubectl.ts';
import type { KubectlOptions, KubectlResult } from './kubectl.ts';
import { freeLoopbackPort } from './loopbackPort.ts';
import { createProcessGroup } from './processGroup.ts';
import type { RunningProcess } from './processGroup.ts';

/** Flag names without dashes; they override the harness's own, and `undefined` removes one. */
type Flags = Readonly<Record<string, string | undefined>>;

interface ControlPlaneOptions {
  readonly scheduler?: boolean;
  readonly controllerManager?: boolean;
  /** As `--controllers` takes them; all default ones unless given. */
  readonly controllerManagerControllers?: readonly string[];
  readonly apiServerFlags?: Flags;
  readonly controllerManagerFlags?: Flags;
  readonly schedulerFlags?: Flags;
  readonly etcdFlags?: Flags;
}

export interface ControlPlane {
  readonly binaries: Binaries;
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  /** Path of a kubeconfig for a member of system:masters. */
  readonly adminKubeconfig: string;
  readonly workDir: string;
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<KubectlResult>;
  /** Path of a new kubeconfig whose client certificate names this user and these groups. */
  kubeconfigFor(user: string, groups?: readonly string[], server?: string): Promise<string>;
  stopApiServer(signal?: NodeJS.Signals): Promise<void>;
  /** Resolves when it is ready. Does nothing when it already runs. */
  startApiServer(): Promise<void>;
  restartApiServer(signal?: NodeJS.Signals): Promise<void>;
  /**
   * Makes etcd forget its history. A running API server still serves recent history from memory, so clients meet
   * `410 Gone` after its restart, or at once with `--watch-cache=false`.
   */
  compactEtcd(): Promise<number>;
  stop(): Promise<void>;
}

const readyWithinMilliseconds = 90_000;
const startAttempts = 3;

/** Starts a plane, and starts over with other ports when one of ours was taken in the meantime. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = await ensureBinaries((line) => console.error(line));
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(binaries, options);
    } catch (error) {
      const portTaken = error instanceof Error && error.message.includes('address already in use');
      if (!portTaken || attempt >= startAttempts) throw error;
    }
  }
}

async function startOnce(binaries: Binaries, options: ControlPlaneOptions): Promise<ControlPlane> {
  const workDir = await mkdtemp(join(tmpdir(), 'nodewright-plane-'));
  const group = createProcessGroup(workDir);
  const stop = async (): Promise<void> => {
    await group.stopAll();
    await rm(workDir, { recursive: true, force: true });
  };
  try {
    return await assemble(binaries, options, workDir, group, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function assemble(
  binaries: Binaries,
  options: ControlPlaneOptions,
  workDir: string,
  group: ReturnType<typeof createProcessGroup>,
  stop: () => Promise<void>,
): Promise<ControlPlane> {
  const [etcdPort, apiPort] = [await freeLoopbackPort(), await freeLoopbackPort()];
  const etcdEndpoint = `http://127.0.0.1:${etcdPort}`;
  const server = `https://127.0.0.1:${apiPort}`;
  const authority = await createCertificateAuthority();
  const ca = authority.pair.certificate;
  const file = async (name: string, content: string): Promise<string> => {
    const path = join(workDir, name);
    await writeFile(path, content, { mode: 0o600 });
    return path;
  };
  const kubeconfigFor: ControlPlane['kubeconfigFor'] = async (user, groups = [], address = server) => {
    const pair = await authority.client(user, groups);
    kubeconfigs += 1;
    const fileName = `${kubeconfigs}-${user.replaceAll(/[^\w.-]/g, '_')}.kubeconfig`;
    return writeKubeconfig(workDir, fileName, { server: address, ca, user, pair });
  };
  let kubeconfigs = 0;

  const etcd = group.start('etcd', binaries.etcd, toArguments(etcdDefaults(workDir, etcdEndpoint), options.etcdFlags));
  const caFile = await file('ca.crt', ca);
  const caKeyFile = await file('ca.key', authority.pair.key);
  const serving = await authority.server(['127.0.0.1'], ['localhost', 'kubernetes.default.svc']);
  const accounts = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const serviceAccountKey = await file('sa.key', accounts.privateKey);
  const apiServerArguments = toArguments(
    {
      'etcd-servers': etcdEndpoint,
      'bind-address': '127.0.0.1',
      'advertise-address': '127.0.0.1',
      'secure-port': String(apiPort),
      'tls-cert-file': await file('apiserver.crt', serving.certificate),
      'tls-private-key-file': await file('apiserver.key', serving.key),
      'client-ca-file': caFile,
      'authorization-mode': 'RBAC',
      'service-account-issuer': server,
      'service-account-key-file': await file('sa.pub', accounts.publicKey),
      'service-account-signing-key-file': serviceAccountKey,
      'service-cluster-ip-range': '10.0.0.0/16',
      'endpoint-reconciler-type': 'none',
      'permit-address-sharing': 'true',
      'allow-privileged': 'true',
      profiling: 'false',
      // Without its controller there are no default accounts, and this plug-in would refuse every pod.
      'disable-admission-plugins': runsServiceAccounts(options) ? undefined : 'ServiceAccount',
    },
    options.apiServerFlags,
  );
  const adminPair = await authority.client('admin', ['system:masters']);
  const adminKubeconfig = await writeKubeconfig(workDir, 'admin.kubeconfig', {
    server,
    ca,
    user: 'admin',
    pair: adminPair,
  });
  const isReady = async (): Promise<boolean> => {
    const dispatcher = new Agent({ connect: { ca, cert: adminPair.certificate, key: adminPair.key } });
    try {
      const response = await request(`${server}/readyz`, { dispatcher, headersTimeout: 2000 });
      await response.body.dump();
      return response.statusCode === 200;
    } catch {
      return false;
    } finally {
      await dispatcher.destroy();
    }
  };
  let apiServer: RunningProcess | undefined;
  const startApiServer = async (): Promise<void> => {
    if (apiServer !== undefined && !apiServer.exited()) return;
    apiServer = group.start('kube-apiserver', binaries.apiServer, apiServerArguments);
    await untilReady(apiServer, isReady);
  };
  const stopApiServer = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    await apiServer?.stop(signal);
  };

  await untilReady(etcd, () => isEtcdHealthy(etcdEndpoint));
  await startApiServer();
  if (options.scheduler === true) {
    const kubeconfig = await kubeconfigFor('system:kube-scheduler');
    const flags = { kubeconfig, 'leader-elect': 'false', 'secure-port': '0' };
    group.start(
      'kube-scheduler',
      present(binaries.scheduler, 'kube-scheduler'),
      toArguments(flags, options.schedulerFlags),
    );
  }
  if (options.controllerManager === true) {
    const program = present(binaries.controllerManager, 'kube-controller-manager');
    const flags = {
      kubeconfig: await kubeconfigFor('system:kube-controller-manager'),
      'leader-elect': 'false',
      'secure-port': '0',
      'use-service-account-credentials': 'true',
      'service-account-private-key-file': serviceAccountKey,
      'root-ca-file': caFile,
      'cluster-signing-cert-file': caFile,
      'cluster-signing-key-file': caKeyFile,
      controllers: options.controllerManagerControllers?.join(','),
    };
    group.start('kube-controller-manager', program, toArguments(flags, options.controllerManagerFlags));
  }

  return {
    binaries,
    server,
    ca,
    adminKubeconfig,
    workDir,
    kubectl: (args, kubectlOptions) =>
      runKubectl(binaries.kubectl, workDir, args, { kubeconfig: adminKubeconfig, ...kubectlOptions }),
    kubeconfigFor,
    stopApiServer,
    startApiServer,
    async restartApiServer(signal) {
      await stopApiServer(signal);
      await startApiServer();
    },
    compactEtcd: () => compactToCurrentRevision(etcdEndpoint),
    stop,
  };
}

function etcdDefaults(workDir: string, endpoint: string): Flags {
  return {
    'data-dir': join(workDir, 'etcd'),
    'listen-client-urls': endpoint,
    'advertise-client-urls': endpoint,
    'listen-peer-urls': 'http://127.0.0.1:0',
    'unsafe-no-fsync': 'true',
    'enable-grpc-gateway': 'true',
    'log-level': 'warn',
  };
}

function runsServiceAccounts(options: ControlPlaneOptions): boolean {
  if (options.controllerManager !== true) return false;
  const controllers = options.controllerManagerControllers ?? ['*'];
  return controllers.includes('*') || controllers.includes('serviceaccount-controller');
}

function toArguments(defaults: Flags, overrides: Flags = {}): string[] {
  return Object.entries({ ...defaults, ...overrides }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  );
}

function present(program: string | undefined, name: string): string {
  if (program === undefined) throw new Error(`KUBEBUILDER_ASSETS holds no ${name}; unset it to have one built.`);
  return program;
}

async function untilReady(child: RunningProcess, check: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + readyWithinMilliseconds;
  while (!(await check())) {
    if (child.exited()) throw new Error(`${child.name} ended before it was ready:\n${await child.logTail()}`);
    if (performance.now() > deadline) throw new Error(`${child.name} is not ready in time:\n${await child.logTail()}`);
    await sleep(50);
  }
}
