/** Requests to servers other than ARM, with a bearer token that stays out of errors. */
import { createHttpHeaders, createPipelineRequest, type HttpClient } from '@azure/core-rest-pipeline';

export interface PlainRequest {
  readonly url: string;
  readonly token: string;
  readonly body?: string;
  readonly caPem?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Status and text of the answer to a GET. */
export async function getPlain(
  httpClient: HttpClient,
  { url, token, body, caPem, signal }: PlainRequest,
): Promise<{ readonly status: number; readonly text: string }> {
  const request = createPipelineRequest({
    url,
    method: 'GET',
    headers: createHttpHeaders({ authorization: `Bearer ${token}`, 'content-type': 'application/json' }),
    ...(body === undefined ? {} : { body }),
    // Such servers are inside the control plane.
    allowInsecureConnection: true,
    ...(signal === undefined ? {} : { abortSignal: signal }),
  });
  if (caPem !== undefined) request.tlsSettings = { ca: caPem };
  try {
    const { status, bodyAsText } = await httpClient.sendRequest(request);
    return { status, text: bodyAsText ?? '' };
  } finally {
    request.headers.delete('authorization');
  }
}
