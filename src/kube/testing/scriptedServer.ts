/**
 * A real HTTP(S) server on loopback that answers as a test says. In: a function per request. Out: its address, and
 * every request that it received.
 */
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Common name of the client's certificate. */
  readonly clientName: string | undefined;
  /** Which connection it came on, counted from 0. */
  readonly connection: number;
}

/** `count` is the number of requests received before this one. */
export type Script = (request: ReceivedRequest, response: ServerResponse, count: number) => void | Promise<void>;

interface TlsOptions {
  readonly cert: string;
  readonly key: string;
  /** Set: clients must have a certificate of this authority. */
  readonly clientCa?: string;
}

export class ScriptedServer implements AsyncDisposable {
  readonly requests: ReceivedRequest[] = [];
  private readonly server;
  private readonly sockets = new Set<Socket>();
  private readonly tls: boolean;
  private connections = 0;

  private constructor(script: Script, tls: TlsOptions | undefined) {
    this.tls = tls !== undefined;
    const numbers = new WeakMap<Socket, number>();
    const listener = (message: IncomingMessage, response: ServerResponse): void => {
      const chunks: Buffer[] = [];
      message.on('data', (chunk: Buffer) => chunks.push(chunk));
      message.on('end', () => {
        const url = new URL(message.url ?? '/', 'http://server');
        const peer = tls === undefined ? undefined : (message.socket as TLSSocket).getPeerCertificate().subject?.CN;
        const received: ReceivedRequest = {
          method: message.method ?? '',
          path: url.pathname,
          query: url.searchParams,
          headers: message.headers,
          body: Buffer.concat(chunks).toString(),
          clientName: Array.isArray(peer) ? peer[0] : peer,
          connection: numbers.get(message.socket) ?? -1,
        };
        this.requests.push(received);
        void script(received, response, this.requests.length - 1);
      });
    };
    this.server =
      tls === undefined
        ? createHttpServer(listener)
        : createHttpsServer(
            {
              cert: tls.cert,
              key: tls.key,
              ...(tls.clientCa === undefined ? {} : { ca: tls.clientCa, requestCert: true, rejectUnauthorized: true }),
            },
            listener,
          );
    this.server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
      numbers.set(socket, this.connections++);
    });
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  static async start(script: Script, tls?: TlsOptions): Promise<ScriptedServer> {
    const server = new ScriptedServer(script, tls);
    await new Promise<void>((resolve) => server.server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.tls ? 'https' : 'http'}://127.0.0.1:${this.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

export function answerJson(
  response: ServerResponse,
  code: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function answerStatus(response: ServerResponse, code: number, reason: string, message = reason): void {
  answerJson(response, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message });
}

/** Polls until the condition holds; gives up, with an error, shortly before the test's own time limit. */
export async function eventually(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 18_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
