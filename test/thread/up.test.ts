/** `up` as a real process: it survives the actions of users and clients, and tells them where everything is. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds, type Pod } from '../../src/api/kinds.ts';
import { eventually } from '../controlplane/eventually.ts';
import { PATIENCE, UpProcess } from '../fixtures/local/upProcess.ts';

describe('nodewright up', { timeout: 300_000 }, () => {
  const up = new UpProcess('--speed', '3');

  beforeAll(() => up.start('--', '--feature-gates', 'NodeOverlay=true', '--batch-idle-duration=2s'), PATIENCE);
  afterAll(() => up.remove());

  const systemPods = async (): Promise<readonly Pod[]> =>
    (await up.kube.list(Kinds.Pod, { namespace: 'kube-system' })).items;
  const deploy = async (name: string): Promise<unknown> =>
    up.kube.create(Kinds.Deployment, {
      metadata: { name, namespace: 'default' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: { containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '900m' } } }] },
        },
      },
    });
  const allRun = (namespace: string, count: number): Promise<true> =>
    eventually(
      `${count} pods run in ${namespace}`,
      async () => {
        if (!up.isRunning) throw new Error(`it ended: ${up.output}`);
        const { items } = await up.kube.list(Kinds.Pod, { namespace });
        return items.length >= count && items.every(({ status }) => status?.phase === 'Running') ? true : undefined;
      },
      PATIENCE,
    );

  it('has a system pool with the pods of AKS, and buys nothing for them', async () => {
    await allRun('kube-system', 22);
    const nodes = (await up.kube.list(Kinds.Node)).items;
    expect(nodes.map(({ metadata }) => metadata.labels?.['kubernetes.azure.com/mode'])).toEqual(['system', 'system']);
    for (const { spec } of nodes) {
      expect(spec?.taints).toEqual([{ key: 'CriticalAddonsOnly', value: 'true', effect: 'NoSchedule' }]);
    }
    const names = new Set((await systemPods()).map(({ metadata }) => metadata.labels?.['k8s-app']));
    expect([...names]).toEqual(expect.arrayContaining(['kube-dns', 'metrics-server', 'konnectivity-agent', 'cilium']));
    const dns = await up.kube.get(Kinds.Service, { name: 'kube-dns', namespace: 'kube-system' });
    expect(dns.spec?.clusterIP).toBe('10.0.0.10');
    expect((await up.kube.list(Kinds.NodeClaim)).items).toEqual([]);
  });

  it('prints commands that work from anywhere, and serves metrics', async () => {
    expect(up.output).toContain(`export KUBECONFIG=${join(up.folder, 'kubeconfig')}\n`);
    expect(up.output).toContain('npx nodewright fault');
    const address = /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(up.output)?.[0] ?? '';
    const text = await (await fetch(address)).text();
    expect(text).toContain('karpenter_build_info{');
    expect(text).toContain('# TYPE nodewright_local_unhandled_failures_total counter');
  });

  it('keeps its secrets in files of the owner', () => {
    const files = ['azure.env', 'azure-ca.pem', 'azure-cloud.json', 'kubeconfig', 'control', 'dashboard.url'];
    const modes = files.map((name) => `${name} ${(statSync(join(up.folder, name)).mode & 0o777).toString(8)}`);
    expect(modes).toEqual(files.map((name) => `${name} 600`));
    expect(up.azure('AZURE_CLIENT_SECRET')).not.toBe('');
    expect(up.output).not.toContain(up.azure('AZURE_CLIENT_SECRET'));
  });

  it('goes on when a NodePool refers to a node class that does not exist', async () => {
    const pool = await up.kube.get(Kinds.NodePool, { name: 'default' });
    const nodeClassRef = { ...pool.spec.template.spec.nodeClassRef, name: 'missing' };
    const template = { ...pool.spec.template, spec: { ...pool.spec.template.spec, nodeClassRef } };
    await up.kube.create(Kinds.NodePool, { metadata: { name: 'broken' }, spec: { ...pool.spec, template } });
    await deploy('web');
    await allRun('default', 2);
    const broken = await up.kube.get(Kinds.NodePool, { name: 'broken' });
    expect(broken.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('False');
  });

  it('goes on when an upload to its Azure breaks off', async () => {
    const { hostname, port } = new URL(up.azure('AZURE_RESOURCE_MANAGER_ENDPOINT'));
    const ca = readFileSync(up.azure('NODE_EXTRA_CA_CERTS'), 'utf8');
    await new Promise<void>((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), ca }, () => {
        socket.write('PUT /subscriptions/x HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{', () => {
          socket.destroy();
          resolve();
        });
      });
      socket.once('error', reject);
    });
    await up.kube.raw('/readyz');
    await up.kube.delete(Kinds.Deployment, { name: 'web', namespace: 'default' });
    await up.kube.raw('/readyz');
    expect(up.isRunning).toBe(true);
  });

  it('goes on without its node class, and stops cleanly when Ctrl-C arrives twice', async () => {
    await up.kube.delete(Kinds.NodePool, { name: 'broken' });
    await up.kube.delete(Kinds.AKSNodeClass, { name: 'default' });
    await up.kube.raw('/readyz');
    up.signal('SIGINT');
    await eventually('it has heard', () => (up.output.includes('SIGINT received') ? true : undefined), PATIENCE);
    up.signal('SIGINT');
    expect(await up.ended).toBe(0);
    expect(readdirSync(up.folder).sort()).toEqual(['karpenter-events.jsonl', 'nodewright.log', 'worlds']);
    await up.start();
    expect(up.output).toContain('goes on');
    await up.kube.raw('/readyz');
  });
});
