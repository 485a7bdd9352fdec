import { createHttpHeaders, createPipelineRequest, type HttpClient } from '@azure/core-rest-pipeline';
import { expect, it } from 'vitest';
import { VirtualClock } from '../clock/virtualClock.ts';
import { silentLog, type Log, type LogFields } from '../kube/log.ts';
import { loggedHttpClient } from './loggedHttpClient.ts';

it('logs each call without its query, headers or body', async () => {
  const lines: (LogFields | undefined)[] = [];
  const log: Log = { ...silentLog, info: (_message, fields) => lines.push(fields) };
  const failure = new Error('connect ECONNREFUSED');
  const inner: HttpClient = {
    sendRequest: async (request) => {
      if (request.method === 'DELETE') throw failure;
      return { request, status: 200, headers: createHttpHeaders() };
    },
  };
  const client = loggedHttpClient(inner, log, new VirtualClock(0));
  const url = 'https://management.azure.com/subscriptions/s?api-version=1&sig=secret';
  const headers = createHttpHeaders({ authorization: 'Bearer secret' });
  expect((await client.sendRequest(createPipelineRequest({ url, headers }))).status).toBe(200);
  await expect(client.sendRequest(createPipelineRequest({ url, method: 'DELETE' }))).rejects.toBe(failure);
  expect(lines).toEqual([
    { method: 'GET', url: 'https://management.azure.com/subscriptions/s', status: 200, milliseconds: 0 },
    { method: 'DELETE', url: 'https://management.azure.com/subscriptions/s', error: failure, milliseconds: 0 },
  ]);
  expect(JSON.stringify(lines)).not.toContain('secret');
});
