/** Small servers on loopback: their start and end, and the bodies of requests with a limit on their size. */
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The body, or why there is none: it is too large, or its client hung up before the end. */
export type RequestBody = { readonly text: string } | { readonly missing: 'too large' | 'interrupted' };

/** Never rejects: an upload that breaks off must not be an error of the server. */
export function requestBody(request: IncomingMessage, maxBytes: number): Promise<RequestBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      // The rest is read and dropped, so that the client gets to the answer.
      if (size > maxBytes) resolve({ missing: 'too large' });
      else chunks.push(chunk);
    });
    request.once('end', () => resolve({ text: Buffer.concat(chunks).toString('utf8') }));
    request.once('error', () => resolve({ missing: 'interrupted' }));
    request.once('close', () => resolve({ missing: 'interrupted' }));
  });
}

/** Listens on loopback; port 0 takes a free one. Returns the port. */
export async function listenOnLoopback(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

export async function closeServer(server: Server | undefined): Promise<void> {
  if (server === undefined) return;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
