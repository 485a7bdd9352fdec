/**
 * Creates the `CredentialSource` for a `CredentialConfig`: secrets from the configuration and from files, and additions
 * by an exec plug-in.
 */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../clock/clock.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { systemProblem } from '../errors/thrown.ts';
import type { CredentialConfig, Secret } from './clusterConfig.ts';
import type { Credentials, CredentialSource } from './credentialSource.ts';
import { ExecCredentialSource } from './execPlugin.ts';

/** Kubelets rotate mounted tokens long before they expire, so a delay of one minute is safe. */
const REREAD_AFTER = 60_000;

export function credentialSource(config: CredentialConfig, clock: Clock): CredentialSource {
  const own = new FileCredentialSource(config, clock);
  return config.exec === undefined ? own : new ExecCredentialSource(config.exec, own, clock);
}

/** Secrets from the configuration or from files; files are read again at most once a minute, and after a 401. */
class FileCredentialSource implements CredentialSource {
  private readonly config: CredentialConfig;
  private readonly clock: Clock;
  private latest: Credentials | undefined;
  private readAt = 0;
  private reading: Promise<Credentials> | undefined;

  constructor(config: CredentialConfig, clock: Clock) {
    this.config = config;
    this.clock = clock;
  }

  async current(): Promise<Credentials> {
    if (this.latest !== undefined && this.clock.now() - this.readAt < REREAD_AFTER) return this.latest;
    return this.reread();
  }

  async renew(refused: Credentials): Promise<Credentials | undefined> {
    const fresh = this.latest === refused ? await this.reread() : await this.current();
    return fresh === refused ? undefined : fresh;
  }

  private reread(): Promise<Credentials> {
    this.reading ??= this.clock.track(this.read()).finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async read(): Promise<Credentials> {
    const { token, basic, certificate } = this.config;
    let fresh: Credentials;
    try {
      const authorization =
        token !== undefined
          ? `Bearer ${(await reveal(token)).trim()}`
          : basic !== undefined
            ? `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`
            : undefined;
      fresh = {
        ...(authorization === undefined ? {} : { authorization }),
        ...(certificate === undefined
          ? {}
          : { certificate: { cert: await reveal(certificate.cert), key: await reveal(certificate.key) } }),
      };
    } catch (error) {
      // A rotation can hide the file for a moment; the previous content is most likely still valid.
      if (this.latest === undefined) throw error;
      fresh = this.latest;
    }
    this.readAt = this.clock.now();
    // Returns the same object if nothing changed, because connections are kept per object.
    if (this.latest === undefined || !sameCredentials(this.latest, fresh)) this.latest = fresh;
    return this.latest;
  }
}

async function reveal(secret: Secret): Promise<string> {
  if ('value' in secret) return secret.value;
  const { file } = secret;
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new NodewrightError('CredentialFileUnreadable', { file, problem: systemProblem(cause) }, { cause });
  });
}

function sameCredentials(left: Credentials, right: Credentials): boolean {
  return (
    left.authorization === right.authorization &&
    left.certificate?.cert === right.certificate?.cert &&
    left.certificate?.key === right.certificate?.key
  );
}
