import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SystemClock } from '../clock/systemClock.ts';
import { systemRandom } from '../clock/systemRandom.ts';
import { HttpKube } from '../kube/httpKube.ts';
import { LocalApiServer, type Endpoint } from '../local/apiserver/localApiServer.ts';
import { clusterTokenReview, PROFILES, SHOWN_BY_DASHBOARD } from './clusterTokens.ts';
import type { ReviewToken } from './gate.ts';

let server: LocalApiServer;
let endpoint: Endpoint;
let review: ReviewToken;
let reviewProfiler: ReviewToken;

beforeAll(async () => {
  const clock = new SystemClock();
  server = new LocalApiServer({ clock, random: systemRandom });
  endpoint = await server.listen();
  const tls = { ca: endpoint.caPem, insecureSkipVerify: false };
  const config = { server: endpoint.url, tls, credentials: { token: { value: endpoint.token } } };
  const kube = new HttpKube({ config, clock, random: systemRandom });
  review = clusterTokenReview(kube, SHOWN_BY_DASHBOARD);
  reviewProfiler = clusterTokenReview(kube, PROFILES);
});

afterAll(async () => {
  await server.close();
});

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  return await new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${endpoint.token}`, 'content-type': 'application/json' };
    const sent = request(`${endpoint.url}${path}`, { method: 'POST', ca: endpoint.caPem, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve(JSON.parse(text) as Record<string, unknown>));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

async function tokenOf(account: string): Promise<string> {
  await post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: account } });
  const answer = await post(`/api/v1/namespaces/default/serviceaccounts/${account}/token`, { spec: {} });
  return (answer['status'] as { token: string }).token;
}

async function allow(account: string, rules: readonly object[]): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const subjects = [{ kind: 'ServiceAccount', namespace: 'default', name: account }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: account };
  await post(`${rbac}/clusterroles`, { metadata: { name: account }, rules });
  await post(`${rbac}/clusterrolebindings`, { metadata: { name: account }, roleRef, subjects });
}

describe('tokens of the cluster', () => {
  it('let in an account that may list all that is shown', async () => {
    const token = await tokenOf('viewer');
    expect(await review(token)).toBe(false);
    await allow('viewer', [
      { apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['list'] },
      { apiGroups: ['karpenter.sh'], resources: ['nodepools'], verbs: ['list'] },
    ]);
    expect(await review(token)).toBe(true);
  });

  it('do not let in an account that may list only a part of it', async () => {
    const token = await tokenOf('half');
    await allow('half', [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }]);
    expect(await review(token)).toBe(false);
  });

  it('open profiles only to an account that may get their address', async () => {
    const token = await tokenOf('profiler');
    await allow('profiler', [{ apiGroups: [''], resources: ['*'], verbs: ['*'] }]);
    expect(await reviewProfiler(token)).toBe(false);
    const other = await tokenOf('operator');
    await allow('operator', [{ nonResourceURLs: ['/debug/pprof/*'], verbs: ['get'] }]);
    expect([await reviewProfiler(other), await review(other)]).toEqual([true, false]);
  });

  it('that the cluster does not know let nothing in', async () => {
    expect(await review('made-up')).toBe(false);
  });
});
