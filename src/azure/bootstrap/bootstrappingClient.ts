/** Gets the start-up script and command of a node from the node bootstrapping server, by a GET with a body. */
import { createDefaultHttpClient, type HttpClient } from '@azure/core-rest-pipeline';
import type { TokenCredential } from '@azure/core-auth';
import type { Clock } from '../../clock/clock.ts';
import { LaunchError } from '../../cloud/errors.ts';
import { launchDetail } from '../../errors/launchProblems.ts';
import type { AzureSettings } from '../azureSettings.ts';
import { getPlain } from '../plainRequest.ts';

export interface BootstrapScripts {
  /** In Base64, including the bootstrap token. */
  readonly customData: string;
  /** The command that turns the VM into a node, run as an extension. */
  readonly command: string;
}

export interface BootstrappingClientOptions {
  readonly settings: Pick<
    AzureSettings,
    'nodeBootstrappingServerUrl' | 'subscriptionId' | 'clusterResourceGroup' | 'clusterName'
  >;
  readonly credential: TokenCredential;
  readonly scopes: string[];
  readonly httpClient?: HttpClient | undefined;
  readonly caPem?: string | undefined;
  readonly clock: Clock;
}

const TIMEOUT = 30_000;
/** The server inserts this placeholder because it does not know the token. */
const TOKEN_PLACEHOLDER = '{{.TokenID}}.{{.TokenSecret}}';

export class BootstrappingClient {
  private readonly options: BootstrappingClientOptions;
  private readonly httpClient: HttpClient;

  constructor(options: BootstrappingClientOptions) {
    this.options = options;
    this.httpClient = options.httpClient ?? createDefaultHttpClient();
  }

  async scriptsFor(body: unknown, bootstrapToken: string, signal?: AbortSignal): Promise<BootstrapScripts> {
    const { clock } = this.options;
    const text = await clock.track(this.ask(JSON.stringify(body), signal));
    const { customData = '', cse = '' } = parse(text);
    if (customData === '' || cse === '') throw failed('its answer lacks customData or cse');
    const fill = (script: string): string => script.replaceAll(TOKEN_PLACEHOLDER, bootstrapToken);
    const script = fill(Buffer.from(customData, 'base64').toString('utf8'));
    return { customData: Buffer.from(script).toString('base64'), command: fill(cse) };
  }

  private async ask(body: string, signal: AbortSignal | undefined): Promise<string> {
    const { settings, credential, scopes, caPem } = this.options;
    const { subscriptionId, clusterResourceGroup, clusterName } = settings;
    const token = await credential.getToken(scopes);
    const server = settings.nodeBootstrappingServerUrl.replace(/\/$/, '');
    const timeout = AbortSignal.timeout(TIMEOUT);
    const { status, text } = await getPlain(this.httpClient, {
      url: `${server}/subscriptions/${subscriptionId}/resourceGroups/${clusterResourceGroup}/providers/Microsoft.ContainerService/managedclusters/${clusterName}/nodeBootstrapping`,
      token: token?.token ?? '',
      body,
      caPem,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    if (status !== 200) throw failed(`it answered ${status}: ${text.slice(0, 500)}`);
    return text;
  }
}

function parse(text: string): { readonly customData?: string; readonly cse?: string } {
  try {
    return JSON.parse(text) as { readonly customData?: string; readonly cse?: string };
  } catch (error) {
    throw failed('its answer is not JSON', error);
  }
}

function failed(problem: string, cause?: unknown): LaunchError {
  const detail = launchDetail('NoScripts', { problem });
  return new LaunchError('CreateInstanceFailed', detail, cause === undefined ? {} : { cause });
}
