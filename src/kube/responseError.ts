/**
 * Turns an error response into a `KubeError`: the server's own `Status`, or one derived from the status code if
 * something else answered (a proxy, a load balancer, an aggregated server).
 */
import { KubeError, type KubeStatus } from './errors.ts';
import { parseRetryAfter } from './retry.ts';

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};
const QUOTED = 300;

interface ErrorAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly request: { readonly method: string; readonly path: string };
}

export function responseError({ code, headers, text, request }: ErrorAnswer, now: number): KubeError {
  const status = parseStatus(text) ?? fallbackStatus(code, text, request);
  const header = headers['retry-after'];
  const asked = parseRetryAfter(Array.isArray(header) ? header[0] : header, now);
  const retryAfterSeconds = asked === undefined ? status.details?.retryAfterSeconds : asked / 1000;
  return new KubeError({
    ...status,
    code: status.code ?? code,
    reason: status.reason || (REASONS[code] ?? 'Unknown'),
    ...(retryAfterSeconds === undefined ? {} : { details: { ...status.details, retryAfterSeconds } }),
  });
}

function parseStatus(text: string): KubeStatus | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const body = JSON.parse(text) as KubeStatus;
    return body.kind === 'Status' ? body : undefined;
  } catch {
    // Truncated or not JSON: the text itself is quoted instead.
    return undefined;
  }
}

function fallbackStatus(code: number, text: string, { method, path }: ErrorAnswer['request']): KubeStatus {
  const quoted = text.trim().replace(/\s+/g, ' ').slice(0, QUOTED);
  return {
    status: 'Failure',
    code,
    // Without a Status, a conflict on POST can only mean that the object exists.
    reason: code === 409 && method === 'POST' ? 'AlreadyExists' : (REASONS[code] ?? 'Unknown'),
    message: `${method} ${path.split('?', 1)[0]}: HTTP ${code}${quoted === '' ? '' : `: ${quoted}`}`,
  };
}
