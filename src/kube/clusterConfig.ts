import { NodewrightError } from '../errors/nodewrightError.ts';

/**
 * Connection settings of one cluster. Created by `kubeconfig.ts` and `inCluster.ts`; read by `HttpKube` and the
 * credential sources.
 */
export interface ClusterConfig {
  /** `https://host:port/base`, without a trailing slash. */
  readonly server: string;
  readonly tls: TlsConfig;
  readonly proxyUrl?: string;
  readonly credentials: CredentialConfig;
  readonly impersonate?: Impersonation;
  /** The context's namespace, for callers that need a default. */
  readonly namespace?: string;
}

export interface TlsConfig {
  /** PEM. Absent: the roots included in Node.js. */
  readonly ca?: string;
  readonly serverName?: string;
  readonly insecureSkipVerify: boolean;
}

/** A PEM text or token: literal, or in a file that may be rotated. */
export type Secret = { readonly value: string } | { readonly file: string };

export interface CredentialConfig {
  readonly token?: Secret;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly certificate?: { readonly cert: Secret; readonly key: Secret };
  readonly exec?: ExecConfig;
}

export interface ExecConfig {
  readonly apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint?: string;
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  /** Passed to the plug-in as `spec.cluster` if its entry sets `provideClusterInfo`. */
  readonly cluster?: Readonly<Record<string, unknown>>;
}

export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** The configuration is invalid. */
export function clusterConfigError(file: string, field: string, problem: string, cause?: unknown): NodewrightError {
  return new NodewrightError('InvalidClusterConfig', { file, field, problem }, cause === undefined ? {} : { cause });
}
