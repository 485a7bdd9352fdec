import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../controlplane/eventually.ts';
import { startControlPlane } from '../controlplane/controlPlane.ts';
import type { ControlPlane } from '../controlplane/controlPlane.ts';

interface PodList {
  readonly items: readonly { readonly metadata: { readonly name: string }; readonly spec: { nodeName?: string } }[];
}

describe('the control plane for tests', () => {
  let plane: ControlPlane;

  beforeAll(async () => {
    plane = await startControlPlane({ scheduler: true, controllerManager: true });
  });

  afterAll(async () => {
    await plane?.stop();
  });

  const kubectl = async (...args: string[]): Promise<string> => {
    const result = await plane.kubectl(args);
    expect(result, `kubectl ${args.join(' ')}`).toMatchObject({ code: 0 });
    return result.stdout;
  };
  const pods = async (): Promise<PodList['items']> =>
    (JSON.parse(await kubectl('get', 'pods', '-l', 'app=web', '-o', 'json')) as PodList).items;

  it('reports the version it was built from', async () => {
    const version = JSON.parse(await kubectl('version', '-o', 'json')) as Record<string, { gitVersion: string }>;
    expect(version['serverVersion']?.gitVersion).toMatch(/^v1\.\d+\.\d+$/);
    expect(version['clientVersion']?.gitVersion).toBe(version['serverVersion']?.gitVersion);
  });

  it('turns a Deployment into pods, and binds them once a node exists', async () => {
    await kubectl('create', 'deployment', 'web', '--image=web', '--replicas=2');
    const created = await eventually('two pods', async () => {
      const found = await pods();
      return found.length === 2 ? found : undefined;
    });
    expect(created.map((pod) => pod.spec.nodeName)).toEqual([undefined, undefined]);

    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'machine-1' } };
    expect(await plane.kubectl(['create', '-f', '-'], { input: JSON.stringify(node) })).toMatchObject({ code: 0 });
    const room = { cpu: '4', memory: '8Gi', pods: '10' };
    const conditions = [{ type: 'Ready', status: 'True', reason: 'Test', message: '' }];
    const status = JSON.stringify({ status: { capacity: room, allocatable: room, conditions } });
    await kubectl('patch', 'node', 'machine-1', '--subresource=status', '--type=merge', '-p', status);
    const bound = await eventually('both pods bound', async () => {
      const found = await pods();
      return found.every((pod) => pod.spec.nodeName !== undefined) ? found : undefined;
    });
    expect(bound.map((pod) => pod.spec.nodeName)).toEqual(['machine-1', 'machine-1']);
  });

  it('lets users do only what their roles allow', async () => {
    const kubeconfig = await plane.kubeconfigFor('jane', ['readers']);
    const refused = await plane.kubectl(['get', 'pods'], { kubeconfig });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('User "jane" cannot list resource "pods"');
    await kubectl('create', 'clusterrolebinding', 'readers', '--clusterrole=view', '--group=readers');
    await eventually('the role works', async () => {
      const allowed = await plane.kubectl(['get', 'pods'], { kubeconfig });
      return allowed.code === 0 ? allowed : undefined;
    });
    expect((await plane.kubectl(['delete', 'deployment', 'web'], { kubeconfig })).stderr).toContain('Forbidden');
  });

  it('keeps its data when the API server restarts', async () => {
    const before = await kubectl('get', 'deployment', 'web', '-o', 'jsonpath={.metadata.uid}');
    await plane.stopApiServer();
    expect((await plane.kubectl(['get', 'nodes', '--request-timeout=2s'])).code).toBe(1);
    await plane.startApiServer();
    expect(await kubectl('get', 'deployment', 'web', '-o', 'jsonpath={.metadata.uid}')).toBe(before);
  });

  it('forgets history when etcd is compacted', async () => {
    const old = await kubectl('get', 'node', 'machine-1', '-o', 'jsonpath={.metadata.resourceVersion}');
    await kubectl('create', 'configmap', 'newer');
    const revision = await plane.compactEtcd();
    expect(revision).toBeGreaterThan(Number(old));
    await plane.restartApiServer();
    const path = `/api/v1/nodes?watch=true&timeoutSeconds=2&resourceVersion=${old}`;
    const answer = await plane.kubectl(['get', '--raw', path]);
    expect(answer.stdout + answer.stderr).toMatch(/too old resource version/);
  });
});
