import { NodewrightError } from '../errors/nodewrightError.ts';

/**
 * What it takes to talk to one cluster. `kubeconfig.ts` and `inCluster.ts` make it from what a user has; `HttpKube`
 * and the credential sources read it.
 */
export interface ClusterConfig {
  /** `https://host:port/base`, without a trailing slash. */
  readonly server: string;
  readonly tls: TlsConfig;
  readonly proxyUrl?: string;
  readonly credentials: CredentialConfig;
  readonly impersonate?: Impersonation;
  /** The namespace that the context names, for callers that need a default. */
  readonly namespace?: string;
}

export interface TlsConfig {
  /** PEM. Absent means the roots that Node.js ships. */
  readonly ca?: string;
  readonly serverName?: string;
  readonly insecureSkipVerify: boolean;
}

/** A PEM text or token: written in the configuration, or in a file that may be rotated under us. */
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
  /** Given to the plug-in as `spec.cluster` when its entry says `provideClusterInfo`. */
  readonly cluster?: Readonly<Record<string, unknown>>;
}

export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** The configuration cannot be used as it is written. */
export function clusterConfigError(file: string, field: string, problem: string, cause?: unknown): NodewrightError {
  return new NodewrightError('InvalidClusterConfig', { file, field, problem }, cause === undefined ? {} : { cause });
}
