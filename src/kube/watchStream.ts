/**
 * Splits a watch response into parsed `WatchEvent`s, in order. An ERROR event, a line that is not JSON, or a stream
 * that ends inside a line becomes a `KubeError`.
 */
import { KubeError, type KubeStatus } from './errors.ts';
import type { WatchEvent } from './kube.ts';

const NEWLINE = 0x0a;
/** The API server limits objects to a few MiB; more than this without a line end is not a watch. */
const LONGEST_LINE = 64 * 2 ** 20;

export async function* readWatchStream<T>(
  body: AsyncIterable<Buffer>,
  signal?: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, void> {
  let pending: Buffer[] = [];
  let pendingSize = 0;
  for await (const chunk of body) {
    let start = 0;
    // Split bytes, not text: a chunk may end inside a character.
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const tail = chunk.subarray(start, end);
      const line = pendingSize === 0 ? tail : Buffer.concat([...pending, tail]);
      if (pendingSize > 0) {
        pending = [];
        pendingSize = 0;
      }
      start = end + 1;
      if (line.length > 0) yield parseEvent<T>(line);
    }
    if (start < chunk.length) {
      pending.push(start === 0 ? chunk : chunk.subarray(start));
      pendingSize += chunk.length - start;
      if (pendingSize > LONGEST_LINE) throw broken(`a line of the watch is longer than ${LONGEST_LINE} bytes`);
    }
  }
  if (pendingSize > 0 && !signal?.aborted) throw broken('the watch ended in the middle of an event');
}

function parseEvent<T>(line: Buffer): WatchEvent<T> {
  let event: { readonly type?: unknown; readonly object?: unknown };
  try {
    event = JSON.parse(line.toString('utf8')) as typeof event;
  } catch (error) {
    throw broken('the watch sent a line that is not JSON', error);
  }
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
    case 'BOOKMARK':
      return event as WatchEvent<T>;
    case 'ERROR':
      throw new KubeError(event.object as KubeStatus);
    default:
      throw broken(`the watch sent an event of unknown type ${JSON.stringify(event.type)}`);
  }
}

const broken = (message: string, cause?: unknown): KubeError =>
  new KubeError({ code: 0, reason: 'Unreachable', message }, { cause });
