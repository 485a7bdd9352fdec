import { expect, it } from 'vitest';
import { RecordedMetrics } from '../../test/fixtures/engine/recordedMetrics.ts';
import { requestMetrics } from './requestMetrics.ts';

it.each([
  ['GET', '/api/v1/nodes?limit=500', { verb: 'LIST', group: '', version: 'v1', kind: 'nodes', subresource: '' }],
  ['GET', '/api/v1/namespaces/shop', { verb: 'GET', group: '', version: 'v1', kind: 'namespaces', subresource: '' }],
  ['WATCH', '/apis/karpenter.sh/v1/nodepools?watch=1', { verb: 'WATCH', group: 'karpenter.sh', kind: 'nodepools' }],
  [
    'PATCH',
    '/apis/apps/v1/namespaces/shop/deployments/web/status',
    { verb: 'PATCH', group: 'apps', version: 'v1', kind: 'deployments', subresource: 'status' },
  ],
  ['POST', '/api/v1/namespaces/shop/pods/web-1/eviction', { verb: 'CREATE', kind: 'pods', subresource: 'eviction' }],
])('times %s %s', (method, path, labels) => {
  const metrics = new RecordedMetrics();
  const onAnswer = requestMetrics(metrics, 'https://127.0.0.1:6443');
  onAnswer({ method, path, code: 200, milliseconds: 250 });
  expect(metrics.observed('client_go_request_duration_seconds', labels as Record<string, string>)).toEqual([0.25]);
});

it('counts every request, also those without an answer', () => {
  const metrics = new RecordedMetrics();
  const onAnswer = requestMetrics(metrics, 'https://127.0.0.1:6443');
  onAnswer({ method: 'GET', path: '/version', code: 200, milliseconds: 1 });
  onAnswer({ method: 'GET', path: '/version', code: 0, milliseconds: 1 });
  expect(metrics.value('client_go_request_total', { code: '<error>', method: 'GET' })).toBe(1);
  expect(metrics.value('rest_client_requests_total', { code: '200', host: '127.0.0.1:6443' })).toBe(1);
  expect(metrics.observed('client_go_request_duration_seconds')).toEqual([]);
});
