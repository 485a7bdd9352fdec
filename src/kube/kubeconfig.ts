/**
 * Reads kubeconfig files: an explicit path, or `KUBECONFIG` and the home directory. Returns the `ClusterConfig` of one
 * context, or throws an `InvalidClusterConfig` error with file and field.
 */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseYaml } from '../api/yaml/parseYaml.ts';
import { messageOf, systemCode, systemProblem } from '../errors/thrown.ts';
import { clusterConfigError, type ClusterConfig, type TlsConfig } from './clusterConfig.ts';
import { Field } from './configField.ts';
import { proxyFromEnvironment } from './proxyFromEnvironment.ts';
import { credentialsOf, impersonationOf } from './kubeconfigUser.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface KubeconfigOptions {
  /** One file, which must exist. Absent: the files of `KUBECONFIG`, or `~/.kube/config`. */
  readonly path?: string;
  /** Overrides the file's `current-context`. */
  readonly context?: string;
  readonly environment?: Environment;
  readonly homeDirectory?: string;
}

export async function loadKubeconfig(options: KubeconfigOptions = {}): Promise<ClusterConfig> {
  const environment = options.environment ?? process.env;
  const paths = kubeconfigPaths(options, environment);
  const files = await readAll(paths, options.path !== undefined);
  if (files.length === 0) {
    throw clusterConfigError(paths.join(delimiter), '', 'there is no kubeconfig file');
  }
  const currentField = files.map((file) => file.at('current-context')).find((field) => field.present);
  const contextName = options.context ?? currentField?.optionalString();
  if (contextName === undefined) {
    throw clusterConfigError(describe(files), 'current-context', 'not set, and no context was asked for');
  }
  const mentionedAt = options.context === undefined ? currentField : undefined;
  const context = named(files, 'contexts', contextName, 'context', mentionedAt);
  const clusterField = context.at('cluster');
  const cluster = named(files, 'clusters', clusterField.string(), 'cluster', clusterField);
  const userField = context.at('user');
  const userName = userField.optionalString();
  const user = userName === undefined ? undefined : named(files, 'users', userName, 'user', userField);
  return toConfig(context, cluster, user, environment);
}

function kubeconfigPaths(options: KubeconfigOptions, environment: Environment): string[] {
  if (options.path !== undefined) return [options.path];
  const listed = (environment['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  return listed.length > 0 ? [...new Set(listed)] : [join(options.homeDirectory ?? homedir(), '.kube', 'config')];
}

/** Missing files are skipped, as in kubectl, unless the user named exactly this one. */
async function readAll(paths: readonly string[], required: boolean): Promise<Field[]> {
  const files: Field[] = [];
  for (const path of paths) {
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch (error) {
      if (!required && systemCode(error) === 'ENOENT') continue;
      throw clusterConfigError(path, '', `cannot be read: ${systemProblem(error)}`, error);
    }
    files.push(new Field(path, '', readYaml(path, text)).object());
  }
  return files;
}

function readYaml(path: string, text: string): unknown {
  try {
    return parseYaml(text) ?? {};
  } catch (error) {
    throw clusterConfigError(path, '', `not valid YAML: ${messageOf(error)}`, error);
  }
}

/** The first file with an entry of this name wins. */
function named(
  files: readonly Field[],
  list: 'clusters' | 'contexts' | 'users',
  name: string,
  body: string,
  mentionedAt: Field | undefined,
): Field {
  for (const file of files) {
    for (const entry of file.at(list).entries()) {
      if (entry.at('name').optionalString() === name) return entry.at(body).object();
    }
  }
  const known = files.flatMap((file) =>
    file
      .at(list)
      .entries()
      .map((entry) => entry.at('name').optionalString())
      .filter(isPresent),
  );
  const choice = known.length === 0 ? 'none' : `only ${known.join(', ')}`;
  if (mentionedAt !== undefined) throw mentionedAt.error(`names "${name}", but ${list} has ${choice}`);
  throw clusterConfigError(describe(files), list, `has no "${name}", ${choice}`);
}

async function toConfig(
  context: Field,
  cluster: Field,
  user: Field | undefined,
  environment: Environment,
): Promise<ClusterConfig> {
  const server = serverOf(cluster.at('server'));
  const tls = await tlsOf(cluster);
  const proxyUrl = proxyOf(cluster.at('proxy-url')) ?? proxyFromEnvironment(server, environment);
  const impersonate = user === undefined ? undefined : impersonationOf(user);
  const namespace = context.at('namespace').optionalString();
  return {
    server,
    tls,
    credentials: user === undefined ? {} : await credentialsOf(user, cluster, { server, tls, proxyUrl }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(impersonate === undefined ? {} : { impersonate }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

function serverOf(field: Field): string {
  const text = field.string();
  // `localhost:8080` parses as a URL with the scheme "localhost:", so check the scheme first.
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw field.error(`"${text}" is not an http:// or https:// address`);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

async function tlsOf(cluster: Field): Promise<TlsConfig> {
  const insecureSkipVerify = cluster.at('insecure-skip-tls-verify').optionalBoolean() ?? false;
  const caField = cluster.at('certificate-authority-data').present
    ? cluster.at('certificate-authority-data')
    : cluster.at('certificate-authority');
  if (insecureSkipVerify && caField.present) {
    throw caField.error('cannot be combined with insecure-skip-tls-verify: true');
  }
  const ca = cluster.at('certificate-authority-data').present
    ? caField.base64Pem()
    : caField.present
      ? await caField.fileText()
      : undefined;
  const serverName = cluster.at('tls-server-name').optionalString();
  return {
    insecureSkipVerify,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

function proxyOf(field: Field): string | undefined {
  const text = field.optionalString();
  if (text === undefined) return undefined;
  const scheme = URL.canParse(text) ? new URL(text).protocol : '';
  if (!['http:', 'https:', 'socks5:'].includes(scheme)) {
    throw field.error(`"${text}" is not an http://, https:// or socks5:// address`);
  }
  return text;
}

const isPresent = <T>(value: T | undefined): value is T => value !== undefined;
const describe = (files: readonly Field[]): string => files.map((file) => file.file).join(delimiter);
