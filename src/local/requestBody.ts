/** Parts of small servers: listening on loopback, reading request bodies of limited size, comparing secrets. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { AddressInfo, Server as NetServer } from 'node:net';

/** The body, or why there is none: it is too large, or the client disconnected. */
export type RequestBody = { readonly bytes: Buffer } | { readonly missing: 'too large' | 'interrupted' };

/** Reads the body; never rejects, because an interrupted upload is not an error of the server. */
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
 * Listens and returns the port; 0 takes a free one. Fails when the port is taken. Later failures to accept a connection
 * are only warnings, because clients try again.
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

/** Compares secrets of equal length in constant time. */
export function isSecret(shown: string, expected: string): boolean {
  const [left, right] = [Buffer.from(shown), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
