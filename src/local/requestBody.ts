/** Small servers: their start and end on loopback, the bodies of requests with a limit on their size, and secrets. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { AddressInfo, Server as NetServer } from 'node:net';

/** The body, or why there is none: it is too large, or its client hung up before the end. */
export type RequestBody = { readonly bytes: Buffer } | { readonly missing: 'too large' | 'interrupted' };

/** Never rejects: an upload that breaks off must not be an error of the server. */
export function requestBody(request: IncomingMessage | Http2ServerRequest, maxBytes: number): Promise<RequestBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      // The rest is read and dropped, so that the client can read the answer.
      if (size > maxBytes) resolve({ missing: 'too large' });
      else chunks.push(chunk);
    });
    request.once('end', () => resolve({ bytes: Buffer.concat(chunks) }));
    request.once('error', () => resolve({ missing: 'interrupted' }));
    request.once('close', () => resolve({ missing: 'interrupted' }));
  });
}

export interface OpenServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * The port, which is any free one when 0 was asked for; fails when it is taken. A connection that cannot be accepted
 * later is only warned of: clients try again.
 */
export async function listen(server: NetServer, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  server.on('error', (error) => process.emitWarning(error));
  return (server.address() as AddressInfo).port;
}

/** Listens on loopback; port 0 takes a free one. */
export async function listenOnLoopback(server: Server, port: number): Promise<OpenServer> {
  const taken = await listen(server, port, '127.0.0.1');
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port: taken, close };
}

/** Takes the same time for any wrong secret of the right length. */
export function isSecret(shown: string, expected: string): boolean {
  const [left, right] = [Buffer.from(shown), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
