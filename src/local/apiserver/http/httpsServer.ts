/**
 * Serves the API over HTTPS with bearer tokens and client certificates. Watches are streamed, and end when the client
 * disconnects or the server closes. No request or disconnection ends the server.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer, type Http2ServerRequest } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createHash } from 'node:crypto';
import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { CertificatePair } from '../../certificates.ts';
import { listen, requestBody } from '../../requestBody.ts';
import { badRequest, tooLarge, unauthorized } from '../status.ts';
import { ANONYMOUS, withAuthenticated, type User } from '../access/user.ts';
import type { ApiHandler, ApiHandlerOptions } from './apiHandler.ts';
import { failureResponse } from './failure.ts';
import { textResponse, type ApiRequest, type ApiResponse, type RequestTrouble } from './message.ts';
import { parseUrl } from './requestPath.ts';

const CREDENTIAL = 'authentication.kubernetes.io/credential-id';
const compress = promisify(gzip);

/** The limit of real servers. */
const MAX_BODY = 3 * 1024 * 1024;
/** Below this, compressing costs more than it saves. */
const COMPRESS_FROM = 128 * 1024;

/** Requests over HTTP/1.1 or HTTP/2. */
type Incoming = IncomingMessage | Http2ServerRequest;
type Outgoing = ServerResponse;

/** Large, because a client may list all objects. */
const SESSION_MEGABYTES = 1000;

export interface HttpsServerOptions extends Pick<ApiHandlerOptions, 'clock' | 'authenticate'> {
  readonly handler: ApiHandler;
  readonly serving: CertificatePair;
  readonly caPem: string;
  readonly port: number;
  readonly host: string;
  readonly trouble?: RequestTrouble | undefined;
}

export interface HttpsServer {
  readonly port: number;
  /** Ends watches, lets running requests finish, and frees the port. */
  close(): Promise<void>;
}

export async function listenHttps(options: HttpsServerOptions): Promise<HttpsServer> {
  const { handler, clock, trouble } = options;
  const sockets = new Set<Socket>();
  const closing = new AbortController();

  async function serve(request: Incoming, response: Outgoing): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    // Both emit errors, possibly several, when the client disconnects.
    request.on('error', () => gone.abort());
    response.on('error', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, closing.signal]);
    try {
      const found = await clock.track(answer(request, signal));
      if (!gone.signal.aborted) await send(request, response, found, signal);
    } catch (error) {
      // The response may have begun: closing the connection shows the client that it is incomplete.
      if (!signal.aborted) process.emitWarning(error instanceof Error ? error : String(error));
      response.destroy();
    }
  }

  async function answer(request: Incoming, signal: AbortSignal): Promise<ApiResponse> {
    const url = parseUrl(request.url ?? '/');
    if (url === undefined) return textResponse('400 Bad Request', 400);
    const headers = singleHeaders(request);
    try {
      const made: ApiRequest = {
        method: request.method ?? 'GET',
        ...url,
        headers,
        body: await readBody(request),
        user: authenticated(request, options.authenticate),
        impersonation: impersonation(request),
        signal,
      };
      await trouble?.before(made);
      const found = handler(made);
      return trouble === undefined || !isWatch(found.body)
        ? found
        : { ...found, body: trouble.watching(made, found.body) };
    } catch (error) {
      return failureResponse(error, { headers });
    }
  }

  const server = createSecureServer(
    {
      key: options.serving.privateKey,
      cert: options.serving.certificate,
      ca: options.caPem,
      requestCert: true,
      rejectUnauthorized: false,
      // Kubernetes clients use HTTP/2; browsers and scripts may use HTTP/1.1.
      allowHTTP1: true,
      maxSessionMemory: SESSION_MEGABYTES,
    },
    (request, response) => {
      // Node's HTTP/2 responses are compatible with those of HTTP/1.1, but not their types.
      void serve(request, response as unknown as Outgoing);
    },
  );
  // No timeout, because watches and idle connections of kubectl last long.
  server.setTimeout(0);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // An error of one HTTP/2 session must not end the server.
  server.on('sessionError', (_error, session) => session.destroy());
  const port = await listen(server, options.port, options.host);
  return {
    port,
    close: async () => {
      closing.abort();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        // Closes keep-alive connections.
        setImmediate(() => {
          for (const socket of sockets) socket.destroy();
        });
      });
    },
  };
}

/** Returns the user of a request, anonymous without credentials; throws on an invalid token. */
function authenticated(request: Incoming, authenticate: HttpsServerOptions['authenticate']): User {
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
  const user = authenticate(header.slice('bearer '.length).trim());
  if (user === undefined) throw unauthorized();
  return user;
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

async function readBody(request: Incoming): Promise<Buffer> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw badRequest(`content-encoding ${encoding} is not accepted`);
  const body = await requestBody(request, MAX_BODY);
  if ('bytes' in body) return body.bytes;
  throw body.missing === 'too large'
    ? tooLarge(MAX_BODY)
    : badRequest('the request ended before its body was complete');
}

function isWatch(body: ApiResponse['body']): body is AsyncIterable<string> {
  return typeof body !== 'string' && !Buffer.isBuffer(body);
}

async function send(request: Incoming, response: Outgoing, answer: ApiResponse, signal: AbortSignal): Promise<void> {
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    response.setHeader(name, typeof value === 'string' ? value : value.flatMap(headerText));
  }
  if (answer.contentType !== '') response.setHeader('content-type', answer.contentType);
  response.setHeader('cache-control', answer.headers?.['cache-control'] ?? 'no-cache, private');
  response.statusCode = answer.code;
  // The connection cannot be reused while the client still sends a body.
  if (!request.complete && request.httpVersionMajor === 1) response.setHeader('connection', 'close');
  const { body } = answer;
  if (isWatch(body)) {
    // Clients wait for the headers as the start of the watch.
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
  // With a string body, Node would write the headers in the encoding of the string; bytes avoid that.
  response.end(request.method === 'HEAD' ? undefined : Buffer.from(body));
}

/** Returns text as UTF-8 bytes for a header, like Go; nothing if it has control characters. */
function headerText(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  return /[^ -~\u0080-\u00ff]/.test(bytes) ? [] : [bytes];
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
