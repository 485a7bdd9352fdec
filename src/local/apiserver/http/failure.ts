/** Returns the response for a thrown error: a Status in the representation that the client accepts. */
import { KubeError } from '../../../kube/errors.ts';
import { internalError } from '../status.ts';
import { negotiate } from './accept.ts';
import { jsonResponse, type ApiRequest, type ApiResponse } from './message.ts';
import { yamlResponse } from './rendering.ts';

export function failureResponse(error: unknown, request: Pick<ApiRequest, 'headers'>): ApiResponse {
  const { status, code } = error instanceof KubeError ? error : internalError(error);
  if (negotiate(request.headers['accept'])?.as === 'yaml') return yamlResponse(status, code);
  const seconds = status.details?.retryAfterSeconds;
  return {
    ...jsonResponse(status, code),
    ...(seconds === undefined ? {} : { headers: { 'retry-after': String(seconds) } }),
  };
}
