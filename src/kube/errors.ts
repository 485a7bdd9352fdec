/** The fields of the API server's `Status` object that clients read. */
export interface KubeStatus {
  readonly kind?: string;
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: {
    readonly name?: string;
    readonly kind?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[];
  };
}

/**
 * A request that the API server refused (`code` ≥ 400), or that never reached it (`code` 0, reason `Unreachable`).
 * `reason` is the server's machine-readable reason: NotFound, AlreadyExists, Conflict, Expired, TooManyRequests, …
 */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly code: number;
  readonly reason: string;
  readonly status: KubeStatus;

  constructor(status: KubeStatus, options?: { readonly cause?: unknown }) {
    super(status.message ?? status.reason ?? `HTTP ${status.code ?? 0}`, options);
    this.code = status.code ?? 0;
    this.reason = status.reason ?? 'Unknown';
    this.status = status;
  }

  /** Milliseconds that the server asked to wait. */
  get retryAfter(): number | undefined {
    const seconds = this.status.details?.retryAfterSeconds;
    return seconds === undefined ? undefined : seconds * 1000;
  }
}

const hasReason = (error: unknown, reason: string): error is KubeError =>
  error instanceof KubeError && error.reason === reason;

export const isNotFound = (error: unknown): error is KubeError => hasReason(error, 'NotFound');
export const isAlreadyExists = (error: unknown): error is KubeError => hasReason(error, 'AlreadyExists');
export const isConflict = (error: unknown): error is KubeError => hasReason(error, 'Conflict');
export const isTooManyRequests = (error: unknown): error is KubeError => hasReason(error, 'TooManyRequests');
export const isInvalid = (error: unknown): error is KubeError => hasReason(error, 'Invalid');
export const isForbidden = (error: unknown): error is KubeError => hasReason(error, 'Forbidden');
/** 410: the requested resourceVersion is gone; list again. */
export const isExpired = (error: unknown): error is KubeError =>
  error instanceof KubeError && (error.code === 410 || error.reason === 'Expired' || error.reason === 'Gone');

/** For deletions and similar: an object that is already gone is a success. */
export async function ignoreNotFound<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return undefined;
  }
}
