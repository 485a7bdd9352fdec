import type { HttpClient } from '@azure/core-rest-pipeline';
import type { Clock } from '../clock/clock.ts';
import type { Log } from '../kube/log.ts';

/** Logs one line per call to Azure: the request, the answer's status and the duration. No headers or bodies. */
export function loggedHttpClient(inner: HttpClient, log: Log, clock: Clock): HttpClient {
  return {
    async sendRequest(request) {
      const { method } = request;
      const [url = ''] = request.url.split('?', 1);
      const started = clock.monotonic();
      const milliseconds = (): number => Math.round(clock.monotonic() - started);
      try {
        const response = await inner.sendRequest(request);
        log.info('azure call', { method, url, status: response.status, milliseconds: milliseconds() });
        return response;
      } catch (error) {
        log.info('azure call', { method, url, error, milliseconds: milliseconds() });
        throw error;
      }
    },
  };
}
