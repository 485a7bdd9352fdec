/**
 * The API on a socket. In: an `ApiHandler` and TLS material. Out: HTTPS on loopback, with bearer tokens and client
 * certificates; watches are streamed and end when the client or the server goes.
 */
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { timingSafeEqual } from 'node:crypto';
import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { Clock } from '../../../clock/clock.ts';
import type { CertificatePair } from '../../certificates.ts';
import { KubeError } from '../../../kube/errors.ts';
import { badRequest, internalError, tooLarge, unauthorized } from '../status.ts';
import type { ApiHandler } from './apiHandler.ts';
import { jsonResponse, type ApiRequest, type ApiResponse } from './message.ts';
import type { RequestTrouble } from './trouble.ts';

const compress = promisify(gzip);

/** What etcd takes, and so what real servers take. */
const MAX_BODY = 3 * 1024 * 1024;
/** Below this, compressing costs more than it saves. */
const COMPRESS_FROM = 128 * 1024;
const OPEN_PATHS = new Set(['/healthz', '/livez', '/readyz', '/version']);

export interface HttpsServerOptions {
  readonly handler: ApiHandler;
  readonly clock: Clock;
  readonly serving: CertificatePair;
  readonly caPem: string;
  /** Bearer token to user name. */
  readonly tokens: ReadonlyMap<string, string>;
  readonly port: number;
  readonly host: string;
  readonly trouble?: RequestTrouble | undefined;
}

export class HttpsServer {
  private readonly options: HttpsServerOptions;
  private readonly server: Server;
  private readonly closing = new AbortController();

  private constructor(options: HttpsServerOptions) {
    this.options = options;
    this.server = createServer(
      {
        key: options.serving.privateKey,
        cert: options.serving.certificate,
        ca: options.caPem,
        requestCert: true,
        rejectUnauthorized: false,
        // Long watches and idle kubectl connections are normal here.
        keepAlive: true,
        requestTimeout: 0,
      },
      (request, response) => {
        void this.serve(request, response);
      },
    );
  }

  static async listen(options: HttpsServerOptions): Promise<HttpsServer> {
    const made = new HttpsServer(options);
    await new Promise<void>((resolve, reject) => {
      made.server.once('error', reject);
      made.server.listen(options.port, options.host, () => {
        made.server.off('error', reject);
        resolve();
      });
    });
    return made;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Ends watches, lets running requests finish, and frees the port. */
  async close(): Promise<void> {
    this.closing.abort();
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeIdleConnections();
      // Whoever keeps a connection open without asking anything has had its chance.
      setImmediate(() => this.server.closeAllConnections());
    });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, this.closing.signal]);
    try {
      const answer = await this.options.clock.track(this.answer(request, signal));
      await send(request, response, answer, signal);
    } catch (error) {
      if (signal.aborted || response.headersSent) response.destroy();
      else await send(request, response, jsonResponse(internalError(error).status, 500), signal);
    }
  }

  private async answer(request: IncomingMessage, signal: AbortSignal): Promise<ApiResponse> {
    try {
      const url = new URL(request.url ?? '/', 'https://localhost');
      const user = this.authenticate(request);
      if (user === undefined && !OPEN_PATHS.has(url.pathname)) throw unauthorized();
      const made: ApiRequest = {
        method: request.method ?? 'GET',
        path: url.pathname,
        query: url.searchParams,
        headers: singleHeaders(request),
        body: await readBody(request),
        user: user ?? 'system:anonymous',
        signal,
      };
      const { handler, trouble } = this.options;
      await trouble?.before(made);
      const answer = handler.handle(made);
      return trouble === undefined || typeof answer.body === 'string'
        ? answer
        : { ...answer, body: trouble.watching(made, answer.body) };
    } catch (error) {
      const failure = error instanceof KubeError ? error : internalError(error);
      return jsonResponse(failure.status, failure.code);
    }
  }

  private authenticate(request: IncomingMessage): string | undefined {
    const socket = request.socket as TLSSocket;
    if (socket.authorized) {
      const subject = socket.getPeerCertificate().subject as { CN?: string } | undefined;
      if (subject?.CN !== undefined) return subject.CN;
    }
    const header = request.headers.authorization ?? '';
    if (!header.toLowerCase().startsWith('bearer ')) return undefined;
    const token = Buffer.from(header.slice('bearer '.length).trim());
    for (const [known, user] of this.options.tokens) {
      const expected = Buffer.from(known);
      if (expected.length === token.length && timingSafeEqual(expected, token)) return user;
    }
    return undefined;
  }
}

function singleHeaders(request: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value]),
  );
}

function readBody(request: IncomingMessage): Promise<Buffer> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw badRequest(`content-encoding ${encoding} is not accepted`);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      // The rest is read and dropped, so that the client hears the answer before the connection ends.
      if (size > MAX_BODY) reject(tooLarge(MAX_BODY));
      else chunks.push(chunk);
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
  });
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: ApiResponse,
  signal: AbortSignal,
): Promise<void> {
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    response.setHeader(name, typeof value === 'string' ? value : [...value]);
  }
  response.setHeader('content-type', answer.contentType);
  response.setHeader('cache-control', answer.headers?.['cache-control'] ?? 'no-cache, private');
  response.statusCode = answer.code;
  // Whoever still has something to send cannot use this connection for another request.
  if (!request.complete) response.setHeader('connection', 'close');
  const { body } = answer;
  if (typeof body !== 'string') {
    // Clients wait for the headers before they trust that the watch has begun.
    response.flushHeaders();
    for await (const line of body) {
      if (!response.write(line)) await drained(response, signal);
      if (signal.aborted) break;
    }
    response.end();
    return;
  }
  const accepts = request.headers['accept-encoding'] ?? '';
  if (body.length >= COMPRESS_FROM && String(accepts).includes('gzip')) {
    response.setHeader('content-encoding', 'gzip');
    response.end(await compress(body, { level: 1 }));
    return;
  }
  response.end(request.method === 'HEAD' ? undefined : body);
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    response.once('drain', done);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}
