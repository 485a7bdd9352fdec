/** The `user` entry of a kubeconfig: how to authenticate to its cluster, and which user to impersonate. */
import { dirname, isAbsolute, resolve } from 'node:path';
import type { CredentialConfig, ExecConfig, Impersonation, Secret, TlsConfig } from './clusterConfig.ts';
import type { Field } from './configField.ts';

interface Connection {
  readonly server: string;
  readonly tls: TlsConfig;
  readonly proxyUrl: string | undefined;
}

const EXEC_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;
const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'] as const;
const CLUSTER_EXTENSION = 'client.authentication.k8s.io/exec';

export async function credentialsOf(user: Field, cluster: Field, connection: Connection): Promise<CredentialConfig> {
  const legacy = user.at('auth-provider');
  if (legacy.present) {
    throw legacy.error(
      `"${legacy.at('name').optionalString() ?? ''}" is a legacy provider that kubectl removed; convert it to an exec ` +
        'plug-in (for Azure: kubelogin convert-kubeconfig)',
    );
  }
  const basic = basicOf(user);
  const token = tokenOf(user);
  if (basic !== undefined && token !== undefined) {
    throw user.at('username').error('cannot be combined with a token: choose one way to authenticate');
  }
  const certificate = await certificateOf(user);
  const exec = user.at('exec').present ? execOf(user.at('exec').object(), cluster, connection) : undefined;
  return {
    ...(token === undefined ? {} : { token }),
    ...(basic === undefined ? {} : { basic }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(exec === undefined ? {} : { exec }),
  };
}

function basicOf(user: Field): CredentialConfig['basic'] {
  const username = user.at('username').optionalString();
  return username === undefined ? undefined : { username, password: user.at('password').optionalString() ?? '' };
}

/** A token file takes precedence over a token, because it is the one that is rotated. */
function tokenOf(user: Field): Secret | undefined {
  if (user.at('tokenFile').present) return { file: user.at('tokenFile').filePath() };
  const token = user.at('token').optionalString();
  return token === undefined ? undefined : { value: token };
}

async function certificateOf(user: Field): Promise<CredentialConfig['certificate']> {
  const cert = await pemOf(user, 'client-certificate');
  const key = await pemOf(user, 'client-key');
  if (cert !== undefined && key !== undefined) return { cert, key };
  if (cert !== undefined) throw user.at('client-key').error('required beside client-certificate, but missing');
  if (key !== undefined) throw user.at('client-certificate').error('required beside client-key, but missing');
  return undefined;
}

async function pemOf(user: Field, name: 'client-certificate' | 'client-key'): Promise<Secret | undefined> {
  const data = user.at(`${name}-data`);
  if (data.present) return { value: data.base64Pem() };
  const file = user.at(name);
  if (!file.present) return undefined;
  // Read once now, so that a wrong path is reported with its field and not at the first request.
  await file.fileText();
  return { file: file.filePath() };
}

function execOf(exec: Field, cluster: Field, connection: Connection): ExecConfig {
  const apiVersion = exec.at('apiVersion').string();
  const version = EXEC_VERSIONS.find((known) => known === apiVersion);
  if (version === undefined) {
    throw exec.at('apiVersion').error(`"${apiVersion}" is not supported; use ${EXEC_VERSIONS.join(' or ')}`);
  }
  const installHint = exec.at('installHint').optionalString();
  const provideClusterInfo = exec.at('provideClusterInfo').optionalBoolean() ?? false;
  return {
    apiVersion: version,
    command: commandOf(exec.at('command')),
    args: exec.at('args').strings(),
    env: Object.fromEntries(
      exec
        .at('env')
        .entries()
        .map((entry) => [entry.at('name').string(), entry.at('value').optionalString() ?? '']),
    ),
    interactiveMode: interactiveModeOf(exec.at('interactiveMode'), version),
    ...(installHint === undefined ? {} : { installHint }),
    ...(provideClusterInfo ? { cluster: clusterInfoOf(cluster, connection) } : {}),
  };
}

/** A plain name is searched on PATH; a name with a slash is a path relative to the kubeconfig. */
function commandOf(field: Field): string {
  const command = field.string();
  return isAbsolute(command) || !/[\\/]/.test(command) ? command : resolve(dirname(field.file), command);
}

function interactiveModeOf(field: Field, version: ExecConfig['apiVersion']): ExecConfig['interactiveMode'] {
  const text = field.optionalString();
  if (text === undefined) {
    if (version === 'client.authentication.k8s.io/v1') throw field.error(`required with ${version}, but missing`);
    return 'IfAvailable';
  }
  const mode = INTERACTIVE_MODES.find((known) => known === text);
  if (mode === undefined) throw field.error(`"${text}" is not one of ${INTERACTIVE_MODES.join(', ')}`);
  return mode;
}

function clusterInfoOf(cluster: Field, { server, tls, proxyUrl }: Connection): Record<string, unknown> {
  const extension = cluster
    .at('extensions')
    .entries()
    .find((entry) => entry.at('name').optionalString() === CLUSTER_EXTENSION);
  return {
    server,
    ...(tls.serverName === undefined ? {} : { 'tls-server-name': tls.serverName }),
    ...(tls.insecureSkipVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(tls.ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(tls.ca).toString('base64') }),
    ...(proxyUrl === undefined ? {} : { 'proxy-url': proxyUrl }),
    config: extension?.at('extension').raw ?? null,
  };
}

export function impersonationOf(user: Field): Impersonation | undefined {
  const name = user.at('as').optionalString();
  const uid = user.at('as-uid').optionalString();
  const groups = user.at('as-groups').strings();
  const extraField = user.at('as-user-extra');
  const keys = extraField.present ? Object.keys(extraField.object().raw as object) : [];
  if (name === undefined) {
    if (uid === undefined && groups.length === 0 && keys.length === 0) return undefined;
    throw user.at('as').error('required to act for a group, uid or extra field, but missing');
  }
  return {
    user: name,
    groups,
    extra: Object.fromEntries(keys.map((key) => [key, extraField.at(key).strings()])),
    ...(uid === undefined ? {} : { uid }),
  };
}
