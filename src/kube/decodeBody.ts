/** Decodes a response body, given as chunks, to parsed JSON or text. */
import type { TransportResponse } from './transport.ts';

export function decodeBody({ body, headers }: Pick<TransportResponse, 'body' | 'headers'>): unknown {
  const text = textOf(body);
  const type = String(headers['content-type'] ?? '');
  if (text === '' || !type.includes('json')) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new SyntaxError('the response claims to be JSON, but it is not', { cause: error });
  }
}

export const textOf = (chunks: readonly Buffer[]): string =>
  (chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)).toString('utf8');
