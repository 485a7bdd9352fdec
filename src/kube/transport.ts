/**
 * Sends bytes to one API server over pooled connections: one pool per client certificate, and separate connections for
 * watches, so that long streams never delay a request. Timeouts, retries and decoding are done by the session.
 */
import { Agent, buildConnector, ProxyAgent, type Dispatcher } from 'undici';
import type { ClusterConfig } from './clusterConfig.ts';
import type { ClientCertificate } from './credentialSource.ts';

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the server's address, query included. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
}

export interface TransportResponse {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: readonly Buffer[];
}

export interface TransportStream extends Omit<TransportResponse, 'body'> {
  readonly body: AsyncIterable<Buffer>;
}

/** The connection failed. `sent` tells whether any byte of the request may have been sent. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly sent: boolean;

  constructor(cause: Error, sent: boolean) {
    super(innermostMessage(cause), { cause });
    this.sent = sent;
  }
}

interface Pools {
  readonly requests: Dispatcher;
  readonly watches: Dispatcher;
}

const CONNECT_TIMEOUT = 30_000;
const KEEP_ALIVE = 60_000;
const TCP_KEEP_ALIVE = 15_000;
/** A rotation needs two: the old and the new certificate. */
const MAX_POOLS = 4;
/** More than a hundred thousand large pods in one answer. */
const LARGEST_BODY = 2 ** 31;

export class Transport {
  private readonly config: ClusterConfig;
  private readonly connections: number;
  private readonly origin: string;
  private readonly basePath: string;
  private readonly pools = new Map<string, Pools>();

  constructor(config: ClusterConfig, options: { readonly connections: number }) {
    this.config = config;
    this.connections = options.connections;
    const url = new URL(config.server);
    this.origin = url.origin;
    this.basePath = url.pathname.replace(/\/+$/, '');
  }

  /** Sends, and collects the complete answer. */
  exchange(
    request: TransportRequest,
    certificate: ClientCertificate | undefined,
    signal: AbortSignal,
  ): Promise<TransportResponse> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      let sent = false;
      let code = 0;
      let headers: TransportResponse['headers'] = {};
      let controller: Dispatcher.DispatchController | undefined;
      const onAbort = (): void => {
        // Reject first, before the connection reports its own error.
        reject(signal.reason as Error);
        controller?.abort(signal.reason as Error);
      };
      const settle = (finish: () => void): void => {
        signal.removeEventListener('abort', onAbort);
        finish();
      };
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      signal.addEventListener('abort', onAbort, { once: true });
      this.pool(certificate).requests.dispatch(this.options(request), {
        // Called when the request has a connection, just before it is sent.
        onRequestStart: (started) => {
          controller = started;
          if (signal.aborted) started.abort(signal.reason as Error);
          else sent = true;
        },
        onResponseStart: (_controller, statusCode, received) => {
          code = statusCode;
          headers = received;
        },
        onResponseData: (receiving, chunk) => {
          size += chunk.length;
          if (size > LARGEST_BODY) receiving.abort(new Error(`the answer is larger than ${LARGEST_BODY} bytes`));
          else chunks.push(chunk);
        },
        onResponseEnd: () => settle(() => resolve({ code, headers, body: chunks })),
        onResponseError: (_controller, error) => settle(() => reject(new TransportError(error, sent))),
      });
    });
  }

  /** Sends, and returns the answer as a stream. */
  async stream(
    request: TransportRequest,
    certificate: ClientCertificate | undefined,
    signal: AbortSignal,
  ): Promise<TransportStream> {
    try {
      const response = await this.pool(certificate).watches.request({ ...this.options(request), signal });
      return { code: response.statusCode, headers: response.headers, body: response.body };
    } catch (error) {
      signal.throwIfAborted();
      throw new TransportError(error as Error, true);
    }
  }

  /** Waits for pending work, then closes all connections. */
  async close(): Promise<void> {
    const pools = [...this.pools.values()];
    this.pools.clear();
    await Promise.all(pools.flatMap((pool) => [pool.requests.close(), pool.watches.destroy()]));
  }

  private options(request: TransportRequest): Dispatcher.DispatchOptions & Dispatcher.RequestOptions {
    return {
      origin: this.origin,
      path: this.basePath + request.path,
      method: request.method,
      headers: request.headers,
      // The caller implements timeouts with its own clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(request.body === undefined ? {} : { body: request.body }),
    };
  }

  private pool(certificate: ClientCertificate | undefined): Pools {
    const key = certificate === undefined ? '' : `${certificate.cert}\n${certificate.key}`;
    const known = this.pools.get(key);
    if (known !== undefined) return known;
    const pools = {
      requests: this.dispatcher(certificate, this.connections),
      watches: this.dispatcher(certificate, undefined),
    };
    this.pools.set(key, pools);
    for (const [oldest, stale] of this.pools) {
      if (this.pools.size <= MAX_POOLS) break;
      this.pools.delete(oldest);
      // Closing waits for open streams; the caller need not wait.
      void Promise.allSettled([stale.requests.close(), stale.watches.close()]);
    }
    return pools;
  }

  private dispatcher(certificate: ClientCertificate | undefined, connections: number | undefined): Dispatcher {
    const { tls, proxyUrl } = this.config;
    const connect: buildConnector.BuildOptions = {
      timeout: CONNECT_TIMEOUT,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE,
      rejectUnauthorized: !tls.insecureSkipVerify,
      ...(tls.ca === undefined ? {} : { ca: tls.ca }),
      ...(certificate === undefined ? {} : { cert: certificate.cert, key: certificate.key }),
      ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
    };
    const pool = {
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE,
      keepAliveMaxTimeout: KEEP_ALIVE,
      ...(connections === undefined ? {} : { connections }),
    };
    if (proxyUrl !== undefined) {
      return new ProxyAgent({
        ...pool,
        uri: proxyUrl,
        requestTls: connect,
        proxyTls: { timeout: CONNECT_TIMEOUT, keepAliveInitialDelay: TCP_KEEP_ALIVE },
      });
    }
    const connector = buildConnector(connect);
    return new Agent({
      ...pool,
      // undici prefers the name in the URL to the connector's; a configured tls-server-name must take precedence.
      connect: (options, callback) =>
        connector(tls.serverName === undefined ? options : { ...options, servername: tls.serverName }, callback),
    });
  }
}

function innermostMessage(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return innermostMessage(error.errors[0]);
  return error.cause instanceof Error ? innermostMessage(error.cause) : error.message;
}
