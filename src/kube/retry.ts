/**
 * Whether to retry a failed request: milliseconds to wait, or undefined to give up. A request that could take effect
 * twice is never sent twice.
 */
import type { Random } from '../clock/random.ts';
import { backoffDelay } from './runtime/backoff.ts';

export type Attempt =
  /** The server answered with an error. */
  | { readonly code: number; readonly retryAfter: number | undefined }
  /** No answer: `sent` tells whether any byte of the request may have been sent. */
  | { readonly code: 0; readonly sent: boolean };

interface RetryQuestion {
  /** Whether the request is idempotent. */
  readonly repeatable: boolean;
  readonly attempt: Attempt;
  /** Retries so far. */
  readonly retries: number;
  readonly maxRetries: number;
  readonly random: Random;
}

const BACKOFF = { base: 200, max: 5_000, jitter: 0.5 };
/** If the server asks for a longer wait, the error is passed to the caller, which can decide better. */
const LONGEST_RETRY_AFTER = 60_000;

export function retryDelay({ repeatable, attempt, retries, maxRetries, random }: RetryQuestion): number | undefined {
  if (retries >= maxRetries || !mayRepeat(repeatable, attempt)) return undefined;
  const backoff = backoffDelay(BACKOFF, retries, random);
  const asked = 'retryAfter' in attempt ? attempt.retryAfter : undefined;
  if (asked === undefined) return backoff;
  return asked > LONGEST_RETRY_AFTER ? undefined : asked + backoff;
}

function mayRepeat(repeatable: boolean, attempt: Attempt): boolean {
  if ('sent' in attempt) return repeatable || !attempt.sent;
  const refused = attempt.code === 429 || attempt.code === 503;
  if (!repeatable) return refused && attempt.retryAfter !== undefined;
  return refused || attempt.code === 500 || attempt.code === 502 || attempt.code === 504;
}

/** The `Retry-After` header (seconds or a date) in milliseconds. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined || header === '') return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
