/**
 * The API on a socket. In: an `ApiHandler` and TLS material. Out: HTTPS on loopback, with bearer tokens and client
 * certificates; watches are streamed and end when the client or the server goes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer, type Http2SecureServer, type Http2ServerRequest } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createHash } from 'node:crypto';
import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { Clock } from '../../../clock/clock.ts';
import type { CertificatePair } from '../../certificates.ts';
import { KubeError } from '../../../kube/errors.ts';
import { badRequest, internalError, tooLarge, unauthorized } from '../status.ts';
import { ANONYMOUS, withAuthenticated, type User } from '../access/user.ts';
import type { ApiHandler } from './apiHandler.ts';
import { jsonResponse, type ApiRequest, type ApiResponse } from './message.ts';
import type { RequestTrouble } from './trouble.ts';

const CREDENTIAL = 'authentication.kubernetes.io/credential-id';
const compress = promisify(gzip);

/** What etcd takes, and so what real servers take. */
const MAX_BODY = 3 * 1024 * 1024;
/** Below this, compressing costs more than it saves. */
const COMPRESS_FROM = 128 * 1024;

/** The same from clients that speak HTTP/2 and from those that do not. */
type Incoming = IncomingMessage | Http2ServerRequest;
type Outgoing = ServerResponse;

/** One client may list everything there is. */
const SESSION_MEGABYTES = 1000;

export interface HttpsServerOptions {
  readonly handler: ApiHandler;
  readonly clock: Clock;
  readonly serving: CertificatePair;
  readonly caPem: string;
  /** Who a bearer token belongs to. */
  readonly authenticate: (token: string) => User | undefined;
  readonly port: number;
  readonly host: string;
  readonly trouble?: RequestTrouble | undefined;
}

export class HttpsServer {
  private readonly options: HttpsServerOptions;
  private readonly server: Http2SecureServer;
  private readonly sockets = new Set<Socket>();
  private readonly closing = new AbortController();

  private constructor(options: HttpsServerOptions) {
    this.options = options;
    this.server = createSecureServer(
      {
        key: options.serving.privateKey,
        cert: options.serving.certificate,
        ca: options.caPem,
        requestCert: true,
        rejectUnauthorized: false,
        // Kubernetes' clients put all their watches into one connection; browsers and scripts need not.
        allowHTTP1: true,
        maxSessionMemory: SESSION_MEGABYTES,
      },
      (request, response) => {
        // Node's HTTP/2 responses are made to stand in for the older ones; their types only do not say so.
        void this.serve(request, response as unknown as Outgoing);
      },
    );
    // Long watches and idle kubectl connections are normal here.
    this.server.setTimeout(0);
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    // A client that breaks off in the middle of a handshake or a session has said all it wanted to say.
    this.server.on('sessionError', (_error, session) => session.destroy());
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
      // Whoever keeps a connection open has had its chance.
      setImmediate(() => {
        for (const socket of this.sockets) socket.destroy();
      });
    });
  }

  private async serve(request: Incoming, response: Outgoing): Promise<void> {
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

  private async answer(request: Incoming, signal: AbortSignal): Promise<ApiResponse> {
    try {
      const url = new URL(request.url ?? '/', 'https://localhost');
      const made: ApiRequest = {
        method: request.method ?? 'GET',
        path: url.pathname,
        query: url.searchParams,
        headers: singleHeaders(request),
        body: await readBody(request),
        user: this.authenticate(request),
        impersonation: impersonation(request),
        signal,
      };
      const { handler, trouble } = this.options;
      await trouble?.before(made);
      const answer = handler.handle(made);
      return trouble === undefined || !isWatch(answer.body)
        ? answer
        : { ...answer, body: trouble.watching(made, answer.body) };
    } catch (error) {
      const failure = error instanceof KubeError ? error : internalError(error);
      return jsonResponse(failure.status, failure.code);
    }
  }

  /** Whoever shows nothing is anonymous; whoever shows something that we do not know is refused. */
  private authenticate(request: Incoming): User {
    const socket = request.socket as TLSSocket;
    if (socket.authorized) {
      const certificate = socket.getPeerCertificate();
      const { CN, O: organisations } = (certificate.subject ?? {}) as { CN?: string; O?: string | string[] };
      if (CN !== undefined) {
        const groups = withAuthenticated(CN, organisations === undefined ? [] : [organisations].flat());
        const fingerprint = createHash('sha256').update(certificate.raw).digest('hex');
        return { name: CN, groups, extra: { [CREDENTIAL]: [`X509SHA256=${fingerprint}`] } };
      }
    }
    const header = request.headers.authorization ?? '';
    if (!header.toLowerCase().startsWith('bearer ')) return ANONYMOUS;
    const user = this.options.authenticate(header.slice('bearer '.length).trim());
    if (user === undefined) throw unauthorized();
    return user;
  }
}

function impersonation(request: Incoming): ApiRequest['impersonation'] {
  const asked: Record<string, string[]> = {};
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = (request.rawHeaders[index] ?? '').toLowerCase();
    if (name.startsWith('impersonate-')) (asked[name] ??= []).push(request.rawHeaders[index + 1] ?? '');
  }
  return Object.keys(asked).length === 0 ? undefined : asked;
}

function singleHeaders(request: Incoming): Record<string, string | undefined> {
  const headers = Object.entries(request.headers).map(([name, value]): [string, string | undefined] => [
    name === ':authority' ? 'host' : name,
    Array.isArray(value) ? value.join(',') : value,
  ]);
  return Object.fromEntries(headers);
}

function readBody(request: Incoming): Promise<Buffer> {
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

function isWatch(body: ApiResponse['body']): body is AsyncIterable<string> {
  return typeof body !== 'string' && !Buffer.isBuffer(body);
}

async function send(request: Incoming, response: Outgoing, answer: ApiResponse, signal: AbortSignal): Promise<void> {
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    response.setHeader(name, typeof value === 'string' ? value : [...value]);
  }
  if (answer.contentType !== '') response.setHeader('content-type', answer.contentType);
  response.setHeader('cache-control', answer.headers?.['cache-control'] ?? 'no-cache, private');
  response.statusCode = answer.code;
  // Whoever still has something to send cannot use this connection for another request.
  if (!request.complete && request.httpVersionMajor === 1) response.setHeader('connection', 'close');
  const { body } = answer;
  if (isWatch(body)) {
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

function drained(response: Outgoing, signal: AbortSignal): Promise<void> {
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
