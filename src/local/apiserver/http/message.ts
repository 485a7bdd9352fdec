/** Requests and answers of the API as plain data, apart from any socket. */
import type { User } from '../access/user.ts';

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly user: User;
  /** Headers that ask to count as another user, each with all its values. */
  readonly impersonation?: Readonly<Record<string, readonly string[] | undefined>> | undefined;
  readonly signal: AbortSignal;
}

export interface ApiResponse {
  readonly code: number;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** A text, bytes, or the lines of a watch. */
  readonly body: string | Buffer | AsyncIterable<string>;
}

export function jsonResponse(value: unknown, code = 200): ApiResponse {
  return {
    code,
    contentType: 'application/json',
    body: typeof value === 'string' ? value : `${JSON.stringify(value)}\n`,
  };
}

export function textResponse(body: string, code = 200): ApiResponse {
  return { code, contentType: 'text/plain; charset=utf-8', body };
}

/** Faults that a server injects: delays, refusals, cut watches. */
export interface RequestTrouble {
  /** Before a request is answered: may take its time, or throw the `KubeError` that the client gets. */
  before(request: ApiRequest): Promise<void>;
  /** Around the lines of a watch: a `KubeError` thrown here cuts the connection. */
  watching(request: ApiRequest, lines: AsyncIterable<string>): AsyncIterable<string>;
}
