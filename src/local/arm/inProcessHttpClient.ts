/** An HTTP client for the Azure SDK that reaches the local Azure without a socket, so that runs replay to the byte. */
import { createHttpHeaders, type HttpClient, type PipelineRequest } from '@azure/core-rest-pipeline';
import type { WireRequest, WireResponse } from './server/armFront.ts';

export function inProcessHttpClient(arm: { handle(request: WireRequest): Promise<WireResponse> }): HttpClient {
  return {
    async sendRequest(request) {
      const { pathname, search } = new URL(request.url);
      const { method } = request;
      const answer = await arm.handle({
        method,
        target: `${pathname}${search}`,
        headers: request.headers.toJSON(),
        text: textOf(request),
      });
      const headers = createHttpHeaders(answer.headers);
      return { request, status: answer.status, headers, bodyAsText: answer.text };
    },
  };
}

function textOf({ body, url }: PipelineRequest): string {
  if (body === undefined || body === null) return '';
  if (typeof body === 'string') return body;
  throw new TypeError(`a request to ${url} has a body that is not text; the local Azure takes text only`);
}
