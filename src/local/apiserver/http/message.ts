/** Requests and responses of the API as plain data, independent of sockets. */
import type { User } from '../access/user.ts';

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly user: User;
  /** The Impersonate headers, with all their values. */
  readonly impersonation?: Readonly<Record<string, readonly string[] | undefined>> | undefined;
  readonly signal: AbortSignal;
}

export interface ApiResponse {
  readonly code: number;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Text, bytes, or the lines of a watch. */
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

/** Injected faults: delays, errors, interrupted watches. */
export interface RequestTrouble {
  /** Called before a request is handled: may delay it, or throw a `KubeError` for the client. */
  before(request: ApiRequest): Promise<void>;
  /** Wraps the lines of a watch: an error thrown here closes the connection. */
  watching(request: ApiRequest, lines: AsyncIterable<string>): AsyncIterable<string>;
}
