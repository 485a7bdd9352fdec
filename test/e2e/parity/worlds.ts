/**
 * The two API servers that must give the same answers: ours over HTTPS and a real kube-apiserver, each with the same
 * user, a way to send requests and a kubectl.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { SystemClock } from '../../../src/clock/systemClock.ts';
import { systemRandom } from '../../../src/clock/systemRandom.ts';
import { LocalApiServer } from '../../../src/local/apiserver/localApiServer.ts';
import { startControlPlane } from '../../controlplane/controlPlane.ts';
import { writeKubeconfig } from '../../controlplane/kubeconfig.ts';
import { runKubectl, type KubectlResult } from '../../controlplane/kubectl.ts';
import type { KeyPair } from '../../controlplane/certificates.ts';
import { readClientCertificate } from './clientCertificate.ts';

interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface WireAnswer {
  readonly code: number;
  readonly contentType: string;
  readonly warnings: readonly string[];
  readonly retryAfter: string | undefined;
  readonly text: string;
}

export interface World {
  readonly url: string;
  send(wire: WireRequest): Promise<WireAnswer>;
  kubectl(args: readonly string[], options: KubectlCall): Promise<KubectlResult>;
  /** Forgets history. */
  compact(): Promise<void>;
  stop(): Promise<void>;
}

interface KubectlCall {
  readonly input?: string | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMilliseconds?: number | undefined;
}

const USER = 'nodewright-admin';

/**
 * Admission plug-ins that need a controller which does not run here: they add marks (a taint, a finalizer) that this
 * controller would remove.
 */
const WITHOUT_PLUGINS = 'TaintNodesByCondition,StorageObjectInUseProtection';

/** What our server has built in: collection of garbage, the end of namespaces, their default accounts, quota counts, roles made of roles. */
const CONTROLLERS = [
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'resourcequota-controller',
  'clusterrole-aggregation-controller',
];

export async function startRealWorld(): Promise<World> {
  const plane = await startControlPlane({
    controllerManager: true,
    controllerManagerControllers: CONTROLLERS,
    apiServerFlags: { 'disable-admission-plugins': WITHOUT_PLUGINS },
  });
  const kubeconfig = await plane.kubeconfigFor(USER, ['system:masters']);
  const pair = await readClientCertificate(kubeconfig);
  const wire = sender(plane.server, plane.ca, pair);
  return {
    url: plane.server,
    send: wire.send,
    kubectl: (args, call) => kubectl(plane.binaries.kubectl, plane.workDir, kubeconfig, args, call),
    async compact() {
      await plane.compactEtcd();
      // A running server still has in memory what etcd has compacted.
      await plane.restartApiServer();
    },
    async stop() {
      await wire.close();
      await plane.stop();
    },
  };
}

export async function startLocalWorld(kubectlProgram: string): Promise<World> {
  const server = new LocalApiServer({ clock: new SystemClock(), random: systemRandom });
  const endpoint = await server.listen();
  const workDir = await mkdtemp(join(tmpdir(), 'nodewright-parity-'));
  const { certificate, privateKey } = endpoint.clientCertificate;
  const pair: KeyPair = { certificate, key: privateKey };
  const kubeconfig = await writeKubeconfig(workDir, 'kubeconfig', {
    server: endpoint.url,
    ca: endpoint.caPem,
    user: USER,
    pair,
  });
  const wire = sender(endpoint.url, endpoint.caPem, pair);
  return {
    url: endpoint.url,
    send: wire.send,
    kubectl: (args, call) => kubectl(kubectlProgram, workDir, kubeconfig, args, call),
    async compact() {
      await Promise.resolve(server.compact());
    },
    async stop() {
      await wire.close();
      await server.close();
      await rm(workDir, { recursive: true, force: true });
    },
  };
}

function sender(
  url: string,
  ca: string,
  pair: KeyPair,
): { send: (wire: WireRequest) => Promise<WireAnswer>; close: () => Promise<void> } {
  const dispatcher = new Agent({ connect: { ca, cert: pair.certificate, key: pair.key } });
  return {
    async send(wire) {
      const response = await request(`${url}${wire.path}`, {
        method: wire.method as 'GET',
        headers: wire.headers,
        ...(wire.body === undefined ? {} : { body: wire.body }),
        dispatcher,
      });
      const { warning, 'content-type': contentType, 'retry-after': retryAfter } = response.headers;
      return {
        code: response.statusCode,
        contentType: String(contentType ?? ''),
        warnings: warning === undefined ? [] : [warning].flat(),
        retryAfter: retryAfter === undefined ? undefined : String(retryAfter),
        text: await response.body.text(),
      };
    },
    close: () => dispatcher.close(),
  };
}

function kubectl(
  program: string,
  workDir: string,
  kubeconfig: string,
  args: readonly string[],
  call: KubectlCall,
): Promise<KubectlResult> {
  return runKubectl(program, workDir, args, {
    kubeconfig,
    ...(call.input === undefined ? {} : { input: call.input }),
    ...(call.timeoutMilliseconds === undefined ? {} : { timeoutMilliseconds: call.timeoutMilliseconds }),
    ...(call.environment === undefined ? {} : { environment: call.environment }),
  });
}
