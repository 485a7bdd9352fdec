/**
 * The `ClusterConfig` of a pod, from its environment and its service-account mount. The token is read again when the
 * kubelet rotates it.
 */
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { systemProblem } from '../errors/thrown.ts';
import { clusterConfigError, type ClusterConfig } from './clusterConfig.ts';
import { loadKubeconfig, type KubeconfigOptions } from './kubeconfig.ts';
import { proxyFromEnvironment } from './proxyFromEnvironment.ts';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

interface InClusterOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Directory with `token`, `ca.crt` and `namespace`. */
  readonly directory?: string;
}

export async function inClusterConfig(options: InClusterOptions = {}): Promise<ClusterConfig> {
  const environment = options.environment ?? process.env;
  const directory = options.directory ?? SERVICE_ACCOUNT;
  const host = environment['KUBERNETES_SERVICE_HOST'];
  const port = environment['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) {
    throw clusterConfigError('environment', 'KUBERNETES_SERVICE_HOST', 'not set: this process does not run in a pod');
  }
  const read = async (name: string): Promise<string> => {
    try {
      return await readFile(join(directory, name), 'utf8');
    } catch (error) {
      throw clusterConfigError(join(directory, name), '', `cannot be read: ${systemProblem(error)}`, error);
    }
  };
  await read('token');
  const ca = await read('ca.crt');
  const namespace = await readFile(join(directory, 'namespace'), 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const proxyUrl = proxyFromEnvironment(server, environment);
  return {
    server,
    tls: { ca, insecureSkipVerify: false },
    credentials: { token: { file: join(directory, 'token') } },
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/**
 * The default configuration: the given path, else `KUBECONFIG`, else the pod's service account, else `~/.kube/config`.
 */
export async function defaultClusterConfig(options: KubeconfigOptions & InClusterOptions = {}): Promise<ClusterConfig> {
  const environment = options.environment ?? process.env;
  const inPod = environment['KUBERNETES_SERVICE_HOST'] !== undefined && environment['KUBERNETES_SERVICE_HOST'] !== '';
  const chosen = options.path !== undefined || Boolean(environment['KUBECONFIG']) || options.context !== undefined;
  return chosen || !inPod ? loadKubeconfig(options) : inClusterConfig(options);
}
