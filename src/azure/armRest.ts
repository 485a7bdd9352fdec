/** ARM requests that no SDK supports, sent through the SDKs' pipeline, with long-running operations. */
import { NodewrightError } from '../errors/nodewrightError.ts';
import {
  createDefaultHttpClient,
  createHttpHeaders,
  createPipelineRequest,
  RestError,
  type HttpClient,
  type HttpMethods,
  type Pipeline,
  type PipelineResponse,
} from '@azure/core-rest-pipeline';
import { beginOperation, type Operation } from './operations.ts';

export interface RestRequest {
  readonly method: HttpMethods;
  /** Path from the subscription on, with its query but without `api-version`. */
  readonly path: string;
  readonly apiVersion: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface ListPage<T> {
  readonly value?: readonly T[];
  readonly nextLink?: string;
}

interface AzureError {
  readonly code?: string;
  readonly message?: string;
}

const MAX_PAGES = 1000;
const ENDED: ReadonlySet<string> = new Set(['Succeeded', 'Failed', 'Canceled']);

export class ArmRest {
  private readonly pipeline: Pipeline;
  private readonly endpoint: string;
  private readonly httpClient: HttpClient;

  constructor(pipeline: Pipeline, endpoint: string, httpClient: HttpClient | undefined) {
    this.pipeline = pipeline;
    this.endpoint = endpoint;
    this.httpClient = httpClient ?? createDefaultHttpClient();
  }

  /** The body of the answer; throws `RestError` with Azure's code unless the status is 2xx. */
  async send<T>(request: RestRequest, signal?: AbortSignal): Promise<T> {
    return bodyOf(await this.answerTo(this.urlOf(request), request, signal)) as T;
  }

  /** All items of a list, page after page. */
  async list<T>(request: RestRequest, signal?: AbortSignal): Promise<readonly T[]> {
    const items: T[] = [];
    let url: string | undefined = this.urlOf(request);
    for (let page = 0; url !== undefined && url !== ''; page += 1) {
      if (page >= MAX_PAGES) {
        throw new NodewrightError('AzureAnswerUnusable', {
          source: request.path,
          problem: `more than ${MAX_PAGES} pages`,
        });
      }
      const body = bodyOf(await this.answerTo(url, request, signal)) as ListPage<T>;
      items.push(...(body.value ?? []));
      url = body.nextLink;
    }
    return items;
  }

  /** Resolves when ARM has accepted the operation. */
  async begin(request: RestRequest, signal?: AbortSignal): Promise<Operation<unknown>> {
    return beginOperation(async () => {
      const response = await this.answerTo(this.urlOf(request), request, signal);
      return { poller: new RestPoller((url, until) => this.poll(url, request, until), response) };
    });
  }

  private poll(url: string, { apiVersion }: RestRequest, signal?: AbortSignal): Promise<PipelineResponse> {
    return this.answerTo(url, { method: 'GET', path: url, apiVersion }, signal);
  }

  private urlOf({ path, apiVersion }: RestRequest): string {
    return `${this.endpoint}${path}${path.includes('?') ? '&' : '?'}api-version=${apiVersion}`;
  }

  private async answerTo(
    url: string,
    { method, body, headers }: RestRequest,
    signal: AbortSignal | undefined,
  ): Promise<PipelineResponse> {
    const response = await this.pipeline.sendRequest(
      this.httpClient,
      createPipelineRequest({
        url,
        method,
        headers: createHttpHeaders({ 'content-type': 'application/json', ...headers }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { abortSignal: signal }),
      }),
    );
    if (response.status >= 200 && response.status < 300) return response;
    const error = errorOf(bodyOf(response));
    throw new RestError(error.message ?? `${method} ${url.split('?')[0]} answered ${response.status}`, {
      statusCode: response.status,
      request: response.request,
      response,
      ...(error.code === undefined ? {} : { code: error.code }),
    });
  }
}

/** Polls the address given by ARM; an operation without one is already complete. */
class RestPoller {
  private readonly ask: (url: string, signal?: AbortSignal) => Promise<PipelineResponse>;
  private readonly url: string | undefined;
  private over: boolean;

  constructor(ask: RestPoller['ask'], begun: PipelineResponse) {
    this.ask = ask;
    this.url = begun.headers.get('azure-asyncoperation') ?? begun.headers.get('location');
    this.over = this.url === undefined;
  }

  get isDone(): boolean {
    return this.over;
  }

  getResult(): undefined {
    return undefined;
  }

  async poll(options: { abortSignal?: AbortSignal } = {}): Promise<void> {
    const response = await this.ask(this.url ?? '', options.abortSignal);
    const body = bodyOf(response) as { readonly status?: string; readonly error?: AzureError } | undefined;
    // A `location` answer has no status in its body: 202 means in progress.
    const status = body?.status ?? (response.status === 202 ? 'InProgress' : 'Succeeded');
    this.over = ENDED.has(status);
    if (!this.over || status === 'Succeeded') return;
    const { code, message = `the operation has ended as ${status}` } = body?.error ?? {};
    throw new RestError(message, code === undefined ? {} : { code });
  }
}

function bodyOf({ bodyAsText }: PipelineResponse): unknown {
  if (bodyAsText === undefined || bodyAsText === null || bodyAsText === '') return undefined;
  try {
    return JSON.parse(bodyAsText) as unknown;
  } catch {
    return undefined;
  }
}

/** `{"error": {…}}` as in ARM, or flat, as in some services. */
function errorOf(body: unknown): AzureError {
  const { error, ...flat } = (typeof body === 'object' && body !== null ? body : {}) as { error?: AzureError };
  return error ?? (flat as AzureError);
}
