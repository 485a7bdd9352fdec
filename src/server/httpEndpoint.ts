/** A small HTTP server with start and stop. If the port cannot be used, the error names the option to change. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { messageOf, systemCode } from '../errors/thrown.ts';

export interface HttpEndpointOptions {
  /** Name of the endpoint for messages: "metrics". */
  readonly purpose: string;
  readonly port: number;
  /** Absent: all interfaces. */
  readonly host?: string | undefined;
  /** The option for the port, for messages: "--metrics-port or METRICS_PORT". */
  readonly setting: string;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

export interface HttpEndpoint {
  readonly port: number;
  /** Waits a moment for pending requests, then closes. */
  stop(): Promise<void>;
}

const CONNECTION_LIMIT = 256;
const STOP_GRACE_MILLISECONDS = 1000;

export async function startHttpEndpoint(options: HttpEndpointOptions): Promise<HttpEndpoint> {
  const server = createServer((request, response) => {
    options.handle(request, response).catch((error: unknown) => answerFailure(response, error));
  });
  server.maxConnections = CONNECTION_LIMIT;
  await new Promise<void>((resolve, reject) => {
    server.on('error', (error) => reject(listenError(options, error)));
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        const impatience = setTimeout(() => server.closeAllConnections(), STOP_GRACE_MILLISECONDS);
        server.close(() => {
          clearTimeout(impatience);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

export function answerText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' });
  response.end(text);
}

/** The path and query of a request; a malformed URL becomes one that is not served. */
export function requestUrl(request: IncomingMessage): URL {
  const target = request.url ?? '/';
  return URL.canParse(target, 'http://localhost') ? new URL(target, 'http://localhost') : new URL('http://localhost/?');
}

/** Answers methods other than GET and HEAD with 405; true if it did. */
export function refuseWrites(request: IncomingMessage, response: ServerResponse): boolean {
  if (request.method === 'GET' || request.method === 'HEAD') return false;
  response.setHeader('allow', 'GET, HEAD');
  answerText(response, 405, 'only GET and HEAD are served here\n');
  return true;
}

function answerFailure(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy();
  else answerText(response, 500, `${messageOf(error)}\n`);
}

const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there',
  EACCES: 'this process may only use ports above 1023',
};

function listenError({ purpose, port, setting }: HttpEndpointOptions, cause: Error): NodewrightError {
  const problem = LISTEN_PROBLEMS[systemCode(cause) ?? ''] ?? cause.message;
  return new NodewrightError('PortUnavailable', { purpose, port, problem, setting }, { cause });
}
