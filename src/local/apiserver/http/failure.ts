/** Failures on the wire. In: whatever was thrown. Out: a Status in the form that the client accepts. */
import { stringify as stringifyYaml } from 'yaml';
import { KubeError } from '../../../kube/errors.ts';
import { internalError } from '../status.ts';
import { negotiate } from './accept.ts';
import { jsonResponse, type ApiRequest, type ApiResponse } from './message.ts';

export function failureResponse(error: unknown, request: ApiRequest): ApiResponse {
  const failure = error instanceof KubeError ? error : internalError(error);
  if (negotiate(request.headers['accept'])?.as === 'yaml') {
    const body = stringifyYaml(failure.status, { sortMapEntries: true });
    return { code: failure.code, contentType: 'application/yaml', body };
  }
  const seconds = failure.status.details?.retryAfterSeconds;
  return {
    ...jsonResponse(failure.status, failure.code),
    ...(seconds === undefined ? {} : { headers: { 'retry-after': String(seconds) } }),
  };
}
