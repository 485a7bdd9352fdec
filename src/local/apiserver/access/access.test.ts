/** Authorization over HTTPS: roles, bindings, impersonation, tokens of service accounts, and reviews. */
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../clock/systemClock.ts';
import { systemRandom } from '../../../clock/systemRandom.ts';
import { LocalApiServer, type Endpoint } from '../localApiServer.ts';

let server: LocalApiServer;
let endpoint: Endpoint;

beforeAll(async () => {
  server = new LocalApiServer({ clock: new SystemClock(), random: systemRandom });
  endpoint = await server.listen();
});

afterAll(async () => {
  await server.close();
});

interface Answer {
  readonly code: number;
  readonly body: Record<string, unknown>;
}

type Headers = Record<string, string | string[]>;

async function ask(method: string, path: string, headers: Headers = {}, body?: object): Promise<Answer> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const bearer = { authorization: `Bearer ${endpoint.token}` };
  return await new Promise((resolve, reject) => {
    const sent = request(
      `${endpoint.url}${path}`,
      { method, ca: endpoint.caPem, headers: { ...bearer, ...type, ...headers } },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          resolve({ code: response.statusCode ?? 0, body: JSON.parse(text) as Record<string, unknown> });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const as = (user: string, ...groups: string[]): Headers => ({
  'impersonate-user': user,
  ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
});
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const PODS = '/api/v1/namespaces/default/pods';

async function grant(name: string, rules: readonly object[], subjects: readonly object[]): Promise<void> {
  await ask('POST', `${RBAC}/namespaces/default/roles`, {}, { metadata: { name }, rules });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  const made = await ask(
    'POST',
    `${RBAC}/namespaces/default/rolebindings`,
    {},
    { metadata: { name }, roleRef, subjects },
  );
  expect(made.code).toBe(201);
}

describe('roles', () => {
  it('forbid requests that no binding allows, with messages that name the request', async () => {
    expect(await ask('GET', PODS, as('nobody'))).toMatchObject({
      code: 403,
      body: {
        reason: 'Forbidden',
        message:
          'pods is forbidden: User "nobody" cannot list resource "pods" in API group "" in the namespace "default"',
      },
    });
    expect(await ask('GET', '/logs', as('nobody'))).toMatchObject({
      code: 403,
      body: { message: 'forbidden: User "nobody" cannot get path "/logs"' },
    });
    expect((await ask('GET', '/api', as('nobody'))).code).toBe(200);
  });

  it('allow users, groups and service accounts the rules of their bindings, including resource names', async () => {
    const rules = [
      { apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get', 'list'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['mine'] },
    ];
    await grant('readers', rules, [
      { kind: 'User', name: 'rita' },
      { kind: 'Group', name: 'devs' },
      { kind: 'ServiceAccount', name: 'default', namespace: 'default' },
    ]);
    for (const who of [as('rita'), as('x', 'devs', 'others'), as('system:serviceaccount:default:default')]) {
      expect((await ask('GET', PODS, who)).code).toBe(200);
      expect((await ask('DELETE', `${PODS}/none`, who)).code).toBe(403);
      expect((await ask('GET', '/api/v1/namespaces/default/secrets/mine', who)).code).toBe(404);
      expect((await ask('GET', '/api/v1/namespaces/default/secrets/other', who)).code).toBe(403);
      expect((await ask('GET', '/api/v1/pods', who)).code).toBe(403);
    }
  });

  it('are aggregated by label selectors of other roles', async () => {
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    const rules = [{ apiGroups: ['example.com'], resources: ['things'], verbs: ['get'] }];
    await ask('POST', `${RBAC}/clusterroles`, {}, { metadata: { name: 'things-viewer', labels }, rules });
    const view = await ask('GET', `${RBAC}/clusterroles/view`);
    expect(view.body['rules']).toContainEqual(rules[0]);
    await ask('DELETE', `${RBAC}/clusterroles/things-viewer`);
    expect((await ask('GET', `${RBAC}/clusterroles/view`)).body['rules']).not.toContainEqual(rules[0]);
  });

  it('cannot grant permissions that their writer does not have', async () => {
    const admin = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' };
    const subjects = [{ kind: 'User', name: 'ada' }];
    await ask(
      'POST',
      `${RBAC}/namespaces/default/rolebindings`,
      {},
      { metadata: { name: 'a' }, roleRef: admin, subjects },
    );
    const wide = { metadata: { name: 'wide' }, rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['*'] }] };
    expect(await ask('POST', `${RBAC}/namespaces/default/roles`, as('ada'), wide)).toMatchObject({
      code: 403,
      body: {
        message:
          'roles.rbac.authorization.k8s.io "wide" is forbidden: user "ada" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["nodes"], Verbs:["*"]}',
      },
    });
    const narrow = { metadata: { name: 'narrow' }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] };
    expect((await ask('POST', `${RBAC}/namespaces/default/roles`, as('ada'), narrow)).code).toBe(201);
    const toAll = { metadata: { name: 'all' }, roleRef: { ...admin, name: 'cluster-admin' }, subjects };
    expect((await ask('POST', `${RBAC}/namespaces/default/rolebindings`, as('ada'), toAll)).code).toBe(403);
    const toView = { metadata: { name: 'view' }, roleRef: { ...admin, name: 'view' }, subjects };
    expect((await ask('POST', `${RBAC}/namespaces/default/rolebindings`, as('ada'), toView)).code).toBe(201);
  });

  it('forbid impersonation without the permission for it', async () => {
    const headers = { ...as('rita'), authorization: 'Bearer nonsense' };
    expect((await ask('GET', PODS, headers)).code).toBe(401);
    expect(await ask('GET', PODS, { ...as('rita'), authorization: '' })).toMatchObject({
      code: 403,
      body: {
        message:
          'users "rita" is forbidden: User "system:anonymous" cannot impersonate resource "users" in API group "" at the cluster scope',
      },
    });
  });
});

describe('tokens of service accounts', () => {
  it('authenticate the account until it is deleted', async () => {
    await ask('POST', '/api/v1/namespaces/default/serviceaccounts', {}, { metadata: { name: 'robot' } });
    const asked = await ask('POST', '/api/v1/namespaces/default/serviceaccounts/robot/token', {}, { spec: {} });
    const { token } = asked.body['status'] as { token: string };
    const robot = { authorization: `Bearer ${token}` };
    const me = await ask('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', robot, {});
    expect(me.body['status']).toMatchObject({
      userInfo: {
        username: 'system:serviceaccount:default:robot',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      },
    });
    expect((await ask('GET', PODS, robot)).code).toBe(403);
    await ask('DELETE', '/api/v1/namespaces/default/serviceaccounts/robot');
    expect((await ask('GET', PODS, robot)).code).toBe(401);
  });
});

describe('reviews', () => {
  const review = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  it('name the binding that allows the request', async () => {
    await grant(
      'watchers',
      [{ apiGroups: ['apps'], resources: ['*'], verbs: ['watch'] }],
      [{ kind: 'User', name: 'wes' }],
    );
    const resourceAttributes = { group: 'apps', resource: 'deployments', verb: 'watch', namespace: 'default' };
    const allowed = await ask('POST', review, {}, { spec: { user: 'wes', resourceAttributes } });
    expect(allowed.body['status']).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "watchers/default" of Role "watchers" to User "wes"',
    });
    const refused = { ...resourceAttributes, verb: 'delete' };
    const answer = await ask('POST', review, {}, { spec: { user: 'wes', resourceAttributes: refused } });
    expect(answer.body['status']).toEqual({ allowed: false });
  });
});
