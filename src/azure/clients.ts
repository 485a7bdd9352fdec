/**
 * The official Azure clients for compute, network and Resource Graph. Their retries and waits pass through our clock,
 * so that they can be simulated.
 */
import { NodewrightError } from '../errors/nodewrightError.ts';
import { ComputeManagementClient } from '@azure/arm-compute';
import { NetworkManagementClient } from '@azure/arm-network';
import type { TokenCredential } from '@azure/core-auth';
import {
  bearerTokenAuthenticationPolicy,
  createDefaultHttpClient,
  createHttpHeaders,
  createPipelineFromOptions,
  createPipelineRequest,
  RestError,
  type HttpClient,
  type Pipeline,
  type PipelinePolicy,
  type PipelineResponse,
} from '@azure/core-rest-pipeline';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import type { AzureEnvironment } from './azureEnvironment.ts';
import { notePace } from './operations.ts';

export interface AzureClientsOptions {
  readonly environment: Pick<AzureEnvironment, 'resourceManager' | 'audience'>;
  /** A certificate authority to trust besides the system's. */
  readonly caPem?: string | undefined;
  /** What carries requests; the SDK's own client over the network when absent. */
  readonly httpClient?: HttpClient | undefined;
  readonly credential: TokenCredential;
  readonly subscriptionId: string;
  readonly clock: Clock;
  readonly random: Random;
}

export interface AzureClients {
  readonly compute: ComputeManagementClient;
  readonly network: NetworkManagementClient;
  readonly graph: ResourceGraphClient;
}

const USER_AGENT = 'karpenter-aks/nodewright';
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
/** How Node and the SDK name a connection that failed or broke. */
const CONNECTION_CODES: ReadonlySet<string> = new Set([
  RestError.REQUEST_SEND_ERROR,
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
]);
const MAX_RETRIES = 3;
/** Azure says when to come again, and means it; a burst of machines may have to come again often. */
const MAX_THROTTLED_RETRIES = 15;
const MAX_SPREAD = 30_000;
const FIRST_BACKOFF = 800;
const MAX_BACKOFF = 60_000;

export function createAzureClients(options: AzureClientsOptions): AzureClients {
  const { environment, credential, subscriptionId, caPem, httpClient } = options;
  const shared = {
    endpoint: environment.resourceManager,
    // The network client reads the first, the compute client the second and would ask for public Azure's otherwise.
    credentialScopes: scopesOf(options),
    credentials: { scopes: scopesOf(options) },
    ...(httpClient === undefined ? {} : { httpClient }),
    ...(caPem === undefined ? {} : { tlsOptions: { ca: caPem } }),
    userAgentOptions: { userAgentPrefix: USER_AGENT },
    // The SDK would wait in real time; our own policy waits by the clock.
    retryOptions: { maxRetries: 0 },
  };
  const additionalPolicies = [{ policy: clockPolicy(options), position: 'perCall' as const }];
  return {
    compute: new ComputeManagementClient(credential, subscriptionId, { ...shared, additionalPolicies }),
    network: new NetworkManagementClient(credential, subscriptionId, { ...shared, additionalPolicies }),
    graph: new ResourceGraphClient(options, shared),
  };
}

function scopesOf({ environment }: Pick<AzureClientsOptions, 'environment'>): string[] {
  return [`${environment.audience}/.default`];
}

/** Retries what is worth it, waits as long as Azure asks, and shows each attempt to the clock. */
function clockPolicy({ clock, random }: Pick<AzureClientsOptions, 'clock' | 'random'>): PipelinePolicy {
  return {
    name: 'clockPolicy',
    async sendRequest(request, next) {
      for (let attempt = 0; ; attempt += 1) {
        let response: PipelineResponse | undefined;
        let failure: unknown;
        try {
          response = await clock.track(next(request));
        } catch (error) {
          failure = error;
          // Some clients turn an answer into an error before it gets here.
          if (error instanceof RestError) response = error.response;
        }
        const retryable =
          response === undefined ? isConnectionFailure(failure) : RETRYABLE_STATUSES.has(response.status);
        const retries = response?.status === 429 ? MAX_THROTTLED_RETRIES : MAX_RETRIES;
        if (!retryable || attempt >= retries) {
          notePace(retryAfter(response));
          // Errors keep their request and may end in a log; the token must not.
          request.headers.delete('authorization');
          if (response === undefined || failure !== undefined) throw failure;
          return response;
        }
        const backoff = Math.min(MAX_BACKOFF, FIRST_BACKOFF * 2 ** attempt) * (0.8 + 0.4 * random.next());
        const signal = request.abortSignal instanceof AbortSignal ? request.abortSignal : undefined;
        const asked = retryAfter(response);
        // Requests that were given the same Retry-After must not all return at the same moment.
        const spread = attempt < MAX_RETRIES ? 0 : random.next() * Math.min(MAX_SPREAD, 500 * 2 ** attempt);
        await clock.sleep(asked === undefined ? backoff : asked + spread, signal);
      }
    },
  };
}

function isConnectionFailure(error: unknown): boolean {
  return error instanceof RestError && error.response === undefined && CONNECTION_CODES.has(error.code ?? '');
}

function retryAfter(response: PipelineResponse | undefined): number | undefined {
  const seconds = Number(response?.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, MAX_BACKOFF) : undefined;
}

export interface GraphRow {
  readonly id?: string;
  readonly name?: string;
  readonly location?: string;
  readonly tags?: Readonly<Record<string, string>> | null;
  readonly zones?: readonly string[] | null;
  readonly properties?: unknown;
}

const GRAPH_API_VERSION = '2022-10-01';
const MAX_GRAPH_PAGES = 200;

/** Resource Graph has no SDK that works here; its one operation goes through the SDKs' own pipeline. */
class ResourceGraphClient {
  private readonly options: AzureClientsOptions;
  private readonly pipeline: Pipeline;
  private readonly httpClient: HttpClient;

  constructor(options: AzureClientsOptions, pipelineOptions: Parameters<typeof createPipelineFromOptions>[0]) {
    this.options = options;
    this.httpClient = options.httpClient ?? createDefaultHttpClient();
    this.pipeline = createPipelineFromOptions(pipelineOptions);
    this.pipeline.addPolicy(clockPolicy(options), { beforePolicies: ['defaultRetryPolicy'] });
    const { credential } = options;
    this.pipeline.addPolicy(bearerTokenAuthenticationPolicy({ credential, scopes: scopesOf(options) }), {
      phase: 'Sign',
    });
  }

  /** All rows of a query, page after page. */
  async query(query: string, signal?: AbortSignal): Promise<readonly GraphRow[]> {
    const rows: GraphRow[] = [];
    let skipToken: string | undefined;
    for (let page = 0; page < MAX_GRAPH_PAGES; page += 1) {
      const body = await this.post(query, skipToken, signal);
      rows.push(...(body.data ?? []));
      skipToken = body.$skipToken;
      if (skipToken === undefined || skipToken === '') return rows;
    }
    throw new NodewrightError('AzureAnswerUnusable', {
      source: 'Resource Graph',
      problem: `more than ${MAX_GRAPH_PAGES} pages`,
    });
  }

  private async post(
    query: string,
    skipToken: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly data?: readonly GraphRow[]; readonly $skipToken?: string }> {
    const { environment, subscriptionId } = this.options;
    const response = await this.pipeline.sendRequest(
      this.httpClient,
      createPipelineRequest({
        url: `${environment.resourceManager}/providers/Microsoft.ResourceGraph/resources?api-version=${GRAPH_API_VERSION}`,
        method: 'POST',
        headers: createHttpHeaders({ 'content-type': 'application/json' }),
        body: JSON.stringify({
          subscriptions: [subscriptionId],
          query,
          options: {
            resultFormat: 'objectArray',
            $top: 1000,
            ...(skipToken === undefined ? {} : { $skipToken: skipToken }),
          },
        }),
        ...(signal === undefined ? {} : { abortSignal: signal }),
      }),
    );
    const text = response.bodyAsText ?? '';
    if (response.status !== 200) {
      throw new RestError(`Resource Graph answered ${response.status}: ${text}`, {
        statusCode: response.status,
        request: response.request,
        response,
      });
    }
    return JSON.parse(text) as { readonly data?: readonly GraphRow[]; readonly $skipToken?: string };
  }
}
