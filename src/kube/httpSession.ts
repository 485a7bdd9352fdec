/**
 * Handles each request to an API server. Order: rate limit, credentials, send (with a timeout), once more with newer
 * credentials after a 401, retry after a wait if `retry.ts` allows it. Returns the decoded answer or throws a
 * `KubeError`.
 */
import { messageOf } from '../errors/thrown.ts';
import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import type { ClusterConfig, Impersonation } from './clusterConfig.ts';
import { credentialSource } from './credentials.ts';
import type { Credentials, CredentialSource } from './credentialSource.ts';
import { decodeBody, textOf } from './decodeBody.ts';
import { KubeError } from './errors.ts';
import { RateLimit } from './rateLimit.ts';
import { responseError } from './responseError.ts';
import { retryDelay, type Attempt } from './retry.ts';
import { Transport, TransportError, type TransportRequest, type TransportResponse } from './transport.ts';

export interface HttpSessionOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly random: Random;
  /** `product/version (details)`. The part before the slash is also the field manager of server-side apply. */
  readonly userAgent?: string;
  /** Client-side rate limit. Absent or 0: none. */
  readonly qps?: number;
  readonly burst?: number;
  /** Timeout in milliseconds of one attempt at a request that is not a watch. */
  readonly requestTimeout?: number;
  /** Maximum number of retries of a request. */
  readonly maxRetries?: number;
  /** Maximum number of connections for requests; each watch has its own. */
  readonly connections?: number;
  /** Called with every answer, for metrics; `code` is 0 when there was none. */
  readonly onAnswer?: (answer: {
    readonly method: string;
    readonly path: string;
    readonly code: number;
    readonly milliseconds: number;
  }) => void;
}

export interface ApiRequest {
  readonly method: TransportRequest['method'];
  readonly path: string;
  readonly body?: object | undefined;
  readonly contentType?: string;
  /** Whether the request is idempotent; default: everything except POST. */
  readonly repeatable?: boolean;
  /** False: a 429 or 503 is passed to the caller without a retry. */
  readonly retryRefusals?: boolean;
  readonly isUrgent?: boolean;
}

const DEFAULT_USER_AGENT = 'nodewright/0.1.0';
const DEFAULT_TIMEOUT = 60_000;
const DEFAULT_RETRIES = 5;
const DEFAULT_CONNECTIONS = 32;
/** Rate limit of urgent requests, as a multiple of the normal one. */
const URGENT_SHARE = 5;

type Send<R> = (credentials: Credentials) => Promise<R>;

export class HttpSession {
  /** The user agent's first word. */
  readonly product: string;
  private readonly options: HttpSessionOptions;
  private readonly clock: Clock;
  private readonly timeout: number;
  private readonly transport: Transport;
  private readonly credentials: CredentialSource;
  private readonly limit: RateLimit | undefined;
  private readonly urgentLimit: RateLimit | undefined;
  private readonly baseHeaders: TransportRequest['headers'];

  constructor(options: HttpSessionOptions) {
    const { config, clock, qps = 0, burst = Math.max(1, qps), userAgent = DEFAULT_USER_AGENT } = options;
    this.product = userAgent.split('/', 1)[0] ?? userAgent;
    this.options = options;
    this.clock = clock;
    this.timeout = options.requestTimeout ?? DEFAULT_TIMEOUT;
    this.transport = new Transport(config, { connections: options.connections ?? DEFAULT_CONNECTIONS });
    this.credentials = credentialSource(config.credentials, clock);
    this.limit = qps > 0 ? new RateLimit({ qps, burst, clock }) : undefined;
    this.urgentLimit =
      qps > 0 ? new RateLimit({ qps: qps * URGENT_SHARE, burst: burst * URGENT_SHARE, clock }) : undefined;
    this.baseHeaders = {
      accept: 'application/json',
      'user-agent': userAgent,
      ...impersonationHeaders(config.impersonate),
    };
  }

  /** The decoded answer: by default parsed JSON, or text if it is not JSON. */
  async send<R = unknown>(
    request: ApiRequest,
    signal: AbortSignal | undefined,
    decode: (response: TransportResponse) => R = decodeBody as (response: TransportResponse) => R,
  ): Promise<R> {
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    for (let retries = 0; ; retries++) {
      try {
        return decode(await this.attempt(request, body, signal));
      } catch (error) {
        signal?.throwIfAborted();
        const delay = this.retryDelay(request, error, retries);
        if (delay === undefined) throw this.kubeError(error);
        await this.clock.sleep(delay, signal);
      }
    }
  }

  /** The body of a watch; ends without an error when the signal aborts. Watches are not retried here. */
  async *stream(path: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer, void, void> {
    if (signal?.aborted) return;
    const ended = new AbortController();
    const unlink = linkAbort(signal, ended);
    try {
      yield* await this.open(path, ended);
    } catch (error) {
      if (!signal?.aborted) throw this.kubeError(error);
    } finally {
      unlink();
    }
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  private async attempt(
    request: ApiRequest,
    body: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<TransportResponse> {
    const limit = request.isUrgent ? this.urgentLimit : this.limit;
    const response = await this.authenticated(limit, signal, (credentials) => {
      const type: Record<string, string> =
        body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' };
      const wire: TransportRequest = {
        method: request.method,
        path: request.path,
        headers: this.headers(credentials, type),
        ...(body === undefined ? {} : { body }),
      };
      const exchange = this.withinTimeLimit(signal, (bounded) =>
        this.transport.exchange(wire, credentials.certificate, bounded),
      );
      return this.clock.track(this.observed(request.method, request.path, exchange));
    });
    if (response.code >= 400) throw this.answerError(request, response);
    return response;
  }

  private async open(path: string, ended: AbortController): Promise<AsyncIterable<Buffer>> {
    const opened = await this.authenticated(this.limit, ended.signal, (credentials) => {
      const wire = { method: 'GET', path, headers: this.headers(credentials, {}) } as const;
      // The timeout only applies to the start of the answer; the watcher decides how long the stream lasts.
      const cancelTimer = this.clock.after(this.timeout, () => ended.abort(new TimeoutError(this.timeout)));
      const opening = this.transport
        .stream(wire, credentials.certificate, ended.signal)
        .then(async (stream) => (stream.code < 400 ? stream : { ...stream, body: await collect(stream.body) }));
      return this.clock.track(this.observed('WATCH', path, opening)).finally(cancelTimer);
    });
    if (Array.isArray(opened.body)) throw this.answerError({ method: 'GET', path }, { ...opened, body: opened.body });
    return opened.body as AsyncIterable<Buffer>;
  }

  /** Sends with the current credentials and, if they are rejected, once more with newer ones. */
  private async authenticated<R extends { readonly code: number }>(
    limit: RateLimit | undefined,
    signal: AbortSignal | undefined,
    send: Send<R>,
  ): Promise<R> {
    await limit?.take(signal);
    const credentials = await this.credentials.current();
    const response = await send(credentials);
    if (response.code !== 401) return response;
    const newer = await this.credentials.renew(credentials);
    return newer === undefined ? response : send(newer);
  }

  private async withinTimeLimit<R>(
    signal: AbortSignal | undefined,
    work: (bounded: AbortSignal) => Promise<R>,
  ): Promise<R> {
    const controller = new AbortController();
    const unlink = linkAbort(signal, controller);
    const cancelTimer = this.clock.after(this.timeout, () => controller.abort(new TimeoutError(this.timeout)));
    try {
      return await work(controller.signal);
    } finally {
      cancelTimer();
      unlink();
    }
  }

  private async observed<R extends { readonly code: number }>(
    method: string,
    path: string,
    work: Promise<R>,
  ): Promise<R> {
    const { onAnswer } = this.options;
    if (onAnswer === undefined) return work;
    const start = this.clock.now();
    let code = 0;
    try {
      const response = await work;
      code = response.code;
      return response;
    } finally {
      onAnswer({ method, path, code, milliseconds: this.clock.now() - start });
    }
  }

  private headers(credentials: Credentials, more: Readonly<Record<string, string>>): TransportRequest['headers'] {
    const { authorization } = credentials;
    return { ...this.baseHeaders, ...more, ...(authorization === undefined ? {} : { authorization }) };
  }

  private retryDelay(request: ApiRequest, error: unknown, retries: number): number | undefined {
    const attempt = attemptOf(error);
    if (attempt === undefined) return undefined;
    if (request.retryRefusals === false && (attempt.code === 429 || attempt.code === 503)) return undefined;
    return retryDelay({
      attempt,
      repeatable: request.repeatable ?? request.method !== 'POST',
      retries,
      maxRetries: this.options.maxRetries ?? DEFAULT_RETRIES,
      random: this.options.random,
    });
  }

  private answerError(request: Pick<ApiRequest, 'method' | 'path'>, response: TransportResponse): KubeError {
    const { code, headers } = response;
    return responseError({ code, headers, text: textOf(response.body), request }, this.clock.now());
  }

  private kubeError(error: unknown): KubeError {
    if (error instanceof KubeError) return error;
    const problem = messageOf(error);
    const message = `${this.options.config.server}: ${problem}`;
    return new KubeError({ code: 0, reason: 'Unreachable', message }, { cause: error });
  }
}

class TimeoutError extends Error {
  override readonly name = 'TimeoutError';

  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds / 1000} s`);
  }
}

/** Aborts `controller` together with `signal`, until the returned function is called. */
function linkAbort(signal: AbortSignal | undefined, controller: AbortController): () => void {
  if (signal === undefined) return () => {};
  const forward = (): void => controller.abort(signal.reason);
  if (signal.aborted) forward();
  // One signal stops hundreds of requests: disable Node.js's warning about a listener leak.
  setMaxListeners(0, signal);
  signal.addEventListener('abort', forward, { once: true });
  return () => signal.removeEventListener('abort', forward);
}

/** Input for `retry.ts`; undefined for failures that a retry would not fix. */
function attemptOf(error: unknown): Attempt | undefined {
  if (error instanceof TransportError) return { code: 0, sent: error.sent };
  return error instanceof KubeError ? { code: error.code, retryAfter: error.retryAfter } : undefined;
}

async function collect(body: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > 1_000_000) break;
  }
  return chunks;
}

function impersonationHeaders(impersonate: Impersonation | undefined): Record<string, string | string[]> {
  if (impersonate === undefined) return {};
  const extra = Object.entries(impersonate.extra).map(([key, values]): [string, string[]] => [
    `impersonate-extra-${encodeURIComponent(key)}`,
    [...values],
  ]);
  return {
    'impersonate-user': impersonate.user,
    ...(impersonate.uid === undefined ? {} : { 'impersonate-uid': impersonate.uid }),
    ...(impersonate.groups.length === 0 ? {} : { 'impersonate-group': [...impersonate.groups] }),
    ...Object.fromEntries(extra),
  };
}
