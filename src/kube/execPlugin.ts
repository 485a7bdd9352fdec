/**
 * Credentials from an external program (`kubelogin`, `aws`, …) by the client.authentication.k8s.io protocol. Its token
 * or certificate is cached until shortly before it expires or the server rejects it.
 */
import { spawn } from 'node:child_process';
import type { Clock } from '../clock/clock.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { systemCode } from '../errors/thrown.ts';
import type { ExecConfig } from './clusterConfig.ts';
import type { ClientCertificate, Credentials, CredentialSource } from './credentialSource.ts';

/** An interactive login in a browser may take long, but a plug-in that hangs must not block forever. */
const RUN_TIMEOUT = 180_000;
/** If the server rejects the plug-in's credentials, do not run it for every request. */
const LEAST_BETWEEN_RENEWALS = 10_000;
const RENEW_BEFORE_EXPIRY = 60_000;
const STDERR_KEPT = 2_000;
const STDOUT_LIMIT = 1_000_000;

interface Obtained {
  readonly credentials: Credentials;
  readonly at: number;
  readonly expiresAt: number;
}

export class ExecCredentialSource implements CredentialSource {
  private readonly config: ExecConfig;
  private readonly base: CredentialSource;
  private readonly clock: Clock;
  private obtained: Obtained | undefined;
  private running: Promise<Obtained> | undefined;

  /** `base` supplies what the plug-in does not (for example a client certificate in addition to its token). */
  constructor(config: ExecConfig, base: CredentialSource, clock: Clock) {
    this.config = config;
    this.base = base;
    this.clock = clock;
  }

  async current(): Promise<Credentials> {
    const known = this.obtained;
    const now = this.clock.now();
    if (known === undefined || now >= known.expiresAt) return (await this.obtain()).credentials;
    const margin = Math.min(RENEW_BEFORE_EXPIRY, (known.expiresAt - known.at) / 5);
    if (now < known.expiresAt - margin) return known.credentials;
    // Still valid: if the plug-in fails now, it can be retried until the real expiry.
    return this.obtain().then(
      (fresh) => fresh.credentials,
      () => known.credentials,
    );
  }

  async renew(refused: Credentials): Promise<Credentials | undefined> {
    const known = this.obtained;
    if (known !== undefined && known.credentials !== refused) return known.credentials;
    if (known !== undefined && this.clock.now() - known.at < LEAST_BETWEEN_RENEWALS) return undefined;
    return (await this.obtain()).credentials;
  }

  private obtain(): Promise<Obtained> {
    this.running ??= this.clock.track(this.run()).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async run(): Promise<Obtained> {
    const base = await this.base.current();
    const output = await runPlugin(this.config);
    const { token, certificate, expiresAt } = readExecCredential(this.config, output);
    const credentials: Credentials = {
      ...base,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(certificate === undefined ? {} : { certificate }),
    };
    this.obtained = { credentials, at: this.clock.now(), expiresAt };
    return this.obtained;
  }
}

async function runPlugin(config: ExecConfig): Promise<string> {
  const terminal = process.stdin.isTTY === true;
  const interactive = terminal && config.interactiveMode !== 'Never';
  if (config.interactiveMode === 'Always' && !terminal) {
    throw pluginError(config, 'needs a terminal (interactiveMode: Always), and there is none');
  }
  const info = {
    apiVersion: config.apiVersion,
    kind: 'ExecCredential',
    spec: { ...(config.cluster === undefined ? {} : { cluster: config.cluster }), interactive },
  };
  return new Promise((resolve, reject) => {
    const child = spawn(config.command, [...config.args], {
      env: { ...process.env, ...config.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
      timeout: RUN_TIMEOUT,
      windowsHide: true,
    });
    let output = '';
    let complaint = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.length > STDOUT_LIMIT) child.kill();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-STDERR_KEPT);
      // Show output at once: it may be "open this page and enter the code".
      if (interactive) process.stderr.write(text);
    });
    child.on('error', (error) => {
      const missing = systemCode(error) === 'ENOENT';
      reject(pluginError(config, missing ? 'is not installed or not on PATH' : error.message, error));
    });
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output);
      else {
        const end = signal === null ? `exited with ${code}` : `was ended by ${signal}`;
        reject(pluginError(config, `${end}${complaint === '' ? '' : `: ${complaint.trim()}`}`));
      }
    });
  });
}

function pluginError({ command, installHint }: ExecConfig, problem: string, cause?: unknown): NodewrightError {
  const hint = systemCode(cause) === 'ENOENT' ? installHint : undefined;
  const data = { command, problem, ...(hint !== undefined && { hint }) };
  return new NodewrightError('CredentialPluginFailed', data, cause === undefined ? {} : { cause });
}

interface PluginAnswer {
  readonly token?: string;
  readonly certificate?: ClientCertificate;
  readonly expiresAt: number;
}

interface ExecCredential {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly status?: {
    readonly token?: string;
    readonly clientCertificateData?: string;
    readonly clientKeyData?: string;
    readonly expirationTimestamp?: string;
  };
}

function readExecCredential(config: ExecConfig, output: string): PluginAnswer {
  const fault = (problem: string, cause?: unknown): Error => pluginError(config, problem, cause);
  let answer: ExecCredential;
  try {
    answer = JSON.parse(output) as ExecCredential;
  } catch (error) {
    throw fault('did not print JSON', error);
  }
  if (answer.kind !== 'ExecCredential') throw fault(`printed kind "${String(answer.kind)}", not ExecCredential`);
  if (answer.apiVersion !== config.apiVersion) {
    throw fault(`printed apiVersion "${String(answer.apiVersion)}", but the kubeconfig says ${config.apiVersion}`);
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = answer.status ?? {};
  if (Boolean(cert) !== Boolean(key)) throw fault('gave only one of clientCertificateData and clientKeyData');
  if (!token && !cert) throw fault('gave neither status.token nor a client certificate');
  const expiresAt = expirationTimestamp ? Date.parse(expirationTimestamp) : Number.POSITIVE_INFINITY;
  if (Number.isNaN(expiresAt)) throw fault(`gave an unreadable expirationTimestamp "${expirationTimestamp}"`);
  return {
    expiresAt,
    ...(token ? { token } : {}),
    ...(cert && key ? { certificate: { cert, key } } : {}),
  };
}
