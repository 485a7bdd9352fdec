import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { paperShop } from '../../test/fixtures/dashboard/paperShop.ts';
import { startThread } from '../../test/fixtures/dashboard/startThread.ts';
import { CliCluster } from '../../test/fixtures/local/cliCluster.ts';
import { Kinds } from '../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import { SystemClock } from '../clock/systemClock.ts';
import { systemRandom } from '../clock/systemRandom.ts';
import { HttpKube } from '../kube/httpKube.ts';
import { loadKubeconfig } from '../kube/kubeconfig.ts';
import type { HttpEndpoint } from '../server/httpEndpoint.ts';
import { clusterTokenReview, SHOWN_BY_DASHBOARD } from '../server/clusterTokens.ts';
import type { ApplyAnswer, WhatIfScreen } from './screens.ts';
import { startDashboard } from './server.ts';

let cluster: CliCluster;
let admin: HttpKube;
let dashboard: HttpEndpoint;

const rbac = (kind: string): ResourceKind<KubeObject> => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  singular: kind.toLowerCase(),
  namespaced: false,
});

/** The token of an account that may look, and do this to NodePools. */
async function tokenOf(name: string, verbs: readonly string[]): Promise<string> {
  await cluster.create(Kinds.ServiceAccount, { metadata: { name, namespace: 'default' } });
  await cluster.create(rbac('ClusterRole'), {
    metadata: { name },
    rules: [
      { apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['list'] },
      { apiGroups: ['karpenter.sh'], resources: ['nodepools'], verbs: ['list', ...verbs] },
    ],
  });
  await cluster.create(rbac('ClusterRoleBinding'), {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', namespace: 'default', name }],
  });
  return cluster.tokenOf('default', name);
}

beforeAll(async () => {
  cluster = await CliCluster.start();
  await cluster.addPool('default');
  const config = await loadKubeconfig({ path: cluster.kubeconfig });
  const ports = { clock: new SystemClock(), random: systemRandom };
  admin = new HttpKube({ config, ...ports });
  dashboard = await startDashboard({
    source: paperShop(),
    port: 0,
    setting: 'test',
    page: { index: '', assets: new Map(), routes: new Set(['now']) },
    startThread,
    reviewToken: clusterTokenReview(admin, SHOWN_BY_DASHBOARD),
    visitorKube: (token) =>
      token === undefined
        ? undefined
        : new HttpKube({ config: { ...config, credentials: { token: { value: token } } }, ...ports }),
    sleep: (_time, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
  });
});
afterAll(async () => {
  await dashboard.stop();
  await admin.close();
  await cluster.stop();
});

function ask<T>(path: string, token: string, body?: string): Promise<{ status: number; answer: T }> {
  const { port } = dashboard;
  const headers = { authorization: `Bearer ${token}`, origin: `http://127.0.0.1:${port}` };
  const method = body === undefined ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => {
        const isJson = String(response.headers['content-type']).includes('json');
        resolve({ status: response.statusCode ?? 0, answer: (isJson ? JSON.parse(text) : text) as T });
      });
    });
    sent.on('error', reject);
    sent.end(body ?? '');
  });
}

const manifest = (name: string, weight: number): string =>
  JSON.stringify({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name, labels: { team: 'web' } },
    spec: {
      weight,
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
          requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }],
        },
      },
    },
  });

it('applies only what the visitor has the right to change', { timeout: 120_000 }, async () => {
  const editor = await tokenOf('editor', ['get', 'patch', 'create']);
  const viewer = await tokenOf('viewer', ['get']);
  const screen = async (token: string) => (await ask<WhatIfScreen>('/api/what-if', token)).answer.mayApply;
  expect([await screen(editor), await screen(viewer)]).toEqual([true, false]);
  const apply = (token: string, text: string) => ask<ApplyAnswer>('/api/what-if/apply', token, text);

  const refused = await apply(viewer, manifest('default', 7));
  expect(refused.answer.applied).toEqual([]);
  expect(refused.answer.problems[0]).toContain('forbidden');
  const pool = () => admin.get(Kinds.NodePool, { name: 'default' });
  expect((await pool()).spec.weight).toBeUndefined();

  await admin.patch(
    Kinds.NodePool,
    { name: 'default' },
    { type: 'merge', body: { metadata: { labels: { own: 'x' } } } },
  );
  expect((await apply(editor, manifest('default', 7))).answer).toEqual({
    problems: [],
    applied: ['NodePool default changed'],
  });
  expect((await pool()).spec).toMatchObject({ weight: 7 });
  expect((await pool()).metadata.labels).toEqual({ own: 'x', team: 'web' });
  expect((await apply(editor, manifest('default', 7))).answer.applied).toEqual(['NodePool default is so already']);
  expect((await apply(editor, manifest('second', 1))).answer.applied).toEqual(['NodePool second created']);
  expect((await apply(editor, manifest('default', 1000))).answer.problems[0]).toContain('weight');
  expect((await apply(editor, 'kind: Pod')).answer.problems).not.toEqual([]);
  expect((await apply('made-up', manifest('default', 9))).status).toBe(401);
  expect((await pool()).spec.weight).toBe(7);
});
