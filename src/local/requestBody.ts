/** The body of an HTTP request as text, with a limit on its size. */
import type { IncomingMessage } from 'node:http';

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
