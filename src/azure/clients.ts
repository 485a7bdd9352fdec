/**
 * The official Azure clients for compute, network and Resource Graph. Their retries and waits use our clock, so that
 * they can be simulated.
 */
import { ComputeManagementClient } from '@azure/arm-compute';
import { NetworkManagementClient } from '@azure/arm-network';
import type { TokenCredential } from '@azure/core-auth';
import {
  bearerTokenAuthenticationPolicy,
  createPipelineFromOptions,
  RestError,
  type HttpClient,
  type Pipeline,
  type PipelinePolicy,
  type PipelineResponse,
} from '@azure/core-rest-pipeline';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import type { AzureEnvironment } from './azureEnvironment.ts';
import { noMetrics, type MetricsRegistry } from '../kube/metrics.ts';
import { ArmBudget } from './armBudget.ts';
import { armRequestOf } from './armRequest.ts';
import { ArmRest } from './armRest.ts';
import { notePace } from './operations.ts';

export interface AzureClientsOptions {
  readonly environment: Pick<AzureEnvironment, 'resourceManager' | 'audience'>;
  /** Certificate authority trusted in addition to the system's. */
  readonly caPem?: string | undefined;
  /** Sends requests; default: the SDK's own client. */
  readonly httpClient?: HttpClient | undefined;
  readonly credential: TokenCredential;
  readonly subscriptionId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics?: MetricsRegistry | undefined;
  /** Adds a second token to requests that refer to images of another subscription. */
  readonly sharedImages?: PipelinePolicy | undefined;
}

export interface AzureClients {
  readonly compute: ComputeManagementClient;
  readonly network: NetworkManagementClient;
  /** For APIs that the SDKs do not cover. */
  readonly rest: ArmRest;
}

const USER_AGENT = 'karpenter-aks/nodewright';
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
/** Node's and the SDK's codes for a failed or broken connection. */
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
/** AKS's code, with status 500, for a partly failed batch of machines. */
const BATCH_CARRIED_OUT = '"BatchMachineInternalServerError"';
const MAX_RETRIES = 3;
/** Azure says when to retry and refuses earlier attempts; a burst of launches may need many. */
const MAX_THROTTLED_RETRIES = 15;
const FIRST_BACKOFF = 800;
const MAX_BACKOFF = 60_000;

export function createAzureClients(options: AzureClientsOptions): AzureClients {
  const { environment, credential, subscriptionId, caPem, httpClient } = options;
  const shared = {
    endpoint: environment.resourceManager,
    // The network client reads the first, the compute client the second; its default would be the public cloud.
    credentialScopes: scopesOf(options),
    credentials: { scopes: scopesOf(options) },
    ...(httpClient === undefined ? {} : { httpClient }),
    ...(caPem === undefined ? {} : { tlsOptions: { ca: caPem } }),
    userAgentOptions: { userAgentPrefix: USER_AGENT },
    // The SDK would wait in real time; our own policy uses the clock.
    retryOptions: { maxRetries: 0 },
  };
  const policy = clockPolicy(options);
  const additionalPolicies = [{ policy, position: 'perCall' as const }];
  const computePolicies =
    options.sharedImages === undefined
      ? additionalPolicies
      : [...additionalPolicies, { policy: options.sharedImages, position: 'perRetry' as const }];
  return {
    compute: new ComputeManagementClient(credential, subscriptionId, {
      ...shared,
      additionalPolicies: computePolicies,
    }),
    network: new NetworkManagementClient(credential, subscriptionId, { ...shared, additionalPolicies }),
    rest: new ArmRest(pipelineFor(options, shared, policy), environment.resourceManager, httpClient),
  };
}

export function scopesOf({ environment }: Pick<AzureClientsOptions, 'environment'>): string[] {
  return [`${environment.audience}/.default`];
}

/** The SDKs' own pipeline, for requests that no SDK supports. */
function pipelineFor(
  options: AzureClientsOptions,
  shared: Parameters<typeof createPipelineFromOptions>[0],
  policy: PipelinePolicy,
): Pipeline {
  const pipeline = createPipelineFromOptions(shared);
  pipeline.addPolicy(policy, { beforePolicies: ['defaultRetryPolicy'] });
  const { credential } = options;
  pipeline.addPolicy(bearerTokenAuthenticationPolicy({ credential, scopes: scopesOf(options) }), { phase: 'Sign' });
  return pipeline;
}

/** Retries transient failures, respects Azure's rate limits, and tracks each attempt with the clock. */
function clockPolicy({ clock, random, metrics = noMetrics }: AzureClientsOptions): PipelinePolicy {
  const budget = new ArmBudget({ clock, random, metrics });
  const requests = metrics.counter({
    name: 'nodewright_azure_requests_total',
    help: 'Requests to Azure by operation and outcome: the HTTP status, or connection when there was no answer.',
    labels: ['operation', 'outcome'],
  });
  return {
    name: 'clockPolicy',
    async sendRequest(request, next) {
      const asked = armRequestOf(request.method, request.url);
      const signal = request.abortSignal instanceof AbortSignal ? request.abortSignal : undefined;
      for (let attempt = 0; ; attempt += 1) {
        await budget.admit(asked, signal);
        let response: PipelineResponse | undefined;
        let failure: unknown;
        try {
          response = await clock.track(next(request));
        } catch (error) {
          failure = error;
          // Some clients throw an error for an answer before it gets here.
          if (error instanceof RestError) response = error.response;
        }
        requests.inc({ operation: asked.operation, outcome: String(response?.status ?? 'connection') });
        if (response !== undefined) budget.note(asked, response, retryAfter(response));
        const retryable = response === undefined ? isConnectionFailure(failure) : isPassing(response);
        const retries = response?.status === 429 ? MAX_THROTTLED_RETRIES : MAX_RETRIES;
        if (!retryable || attempt >= retries) {
          notePace(retryAfter(response));
          // Errors contain their request and may be logged, but the token must not be.
          request.headers.delete('authorization');
          request.headers.delete('x-ms-authorization-auxiliary');
          if (response === undefined || failure !== undefined) throw failure;
          return response;
        }
        const patience = retryAfter(response);
        // The budget handles rate-limit waits for all requests that share one.
        if (response?.status === 429 && patience !== undefined) continue;
        const backoff = Math.min(MAX_BACKOFF, FIRST_BACKOFF * 2 ** attempt) * (0.8 + 0.4 * random.next());
        await clock.sleep(patience ?? backoff, signal);
      }
    },
  };
}

/** Whether a retry may succeed. A partly failed batch was carried out and must not be repeated. */
function isPassing({ status, bodyAsText }: PipelineResponse): boolean {
  return RETRYABLE_STATUSES.has(status) && bodyAsText?.includes(BATCH_CARRIED_OUT) !== true;
}

function isConnectionFailure(error: unknown): boolean {
  return error instanceof RestError && error.response === undefined && CONNECTION_CODES.has(error.code ?? '');
}

function retryAfter(response: PipelineResponse | undefined): number | undefined {
  const seconds = Number(response?.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, MAX_BACKOFF) : undefined;
}
