import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { defaultNodeClass, defaultPools } from '../../src/nap/defaultPools.ts';
import { eventually } from '../controlplane/eventually.ts';
import { AzureProgram, BINARY } from './azureProgram.ts';

describe('nodewright run', () => {
  let program: AzureProgram;

  beforeAll(async () => {
    program = await AzureProgram.prepare();
    await program.kube.create(Kinds.AKSNodeClass, defaultNodeClass);
    for (const pool of defaultPools) await program.kube.create(Kinds.NodePool, pool);
    await program.launch({ DASHBOARD_PORT: String(program.ports.dashboard) });
  });
  afterAll(() => program?.close());

  const httpCode = async (port: number, path: string, headers: Record<string, string> = {}): Promise<number> => {
    try {
      const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`, { headers });
      await body.dump();
      return statusCode;
    } catch {
      return 0;
    }
  };

  it('becomes ready and holds the lease under the name that Karpenter uses', async () => {
    const { ports, kube } = program;
    await eventually('ready', async () => ((await httpCode(ports.health, '/readyz')) === 200 ? true : undefined));
    expect(await httpCode(ports.health, '/healthz')).toBe(200);
    const lease = await eventually('a leader', async () => {
      const { items } = await kube.list(Kinds.Lease, { namespace: 'kube-system' });
      return items.find(({ metadata, spec }) => metadata.name === 'karpenter-leader-election' && spec?.holderIdentity);
    });
    expect(lease.spec?.holderIdentity).toMatch(/_[0-9a-f-]{36}$/);
  });

  it('buys instances for pending pods, which then run', async () => {
    const { plane, kube, ports, log } = program;
    await plane.kubectl(['create', 'deployment', 'web', '--image=web', '--replicas=5']);
    await plane.kubectl(['set', 'resources', 'deployment', 'web', '--requests=cpu=900m,memory=1Gi']);
    const rollout = await plane.kubectl(['rollout', 'status', 'deployment/web', '--timeout=90s']);
    // The log's end says why, should it fail.
    expect({ ...rollout, log: readFileSync(log, 'utf8').slice(-3000) }).toMatchObject({ code: 0 });
    const { items: nodes } = await kube.list(Kinds.Node);
    expect(nodes.length).toBeGreaterThan(0);
    for (const { metadata } of nodes) {
      expect(metadata.labels).toMatchObject({ [Labels.nodePool]: 'default', [Labels.initialized]: 'true' });
    }
    const { body } = await request(`http://127.0.0.1:${ports.metrics}/metrics`);
    expect(await body.text()).toMatch(/karpenter_nodeclaims_created_total\{.*nodepool="default".*\} \d/);
  });

  it('shows its dashboard for tokens that may list what it shows', async () => {
    const { plane, ports } = program;
    const tokenOf = async (account: string): Promise<string> => {
      await plane.kubectl(['create', 'serviceaccount', account]);
      return (await plane.kubectl(['create', 'token', account])).stdout.trim();
    };
    const role = ['create', 'clusterrole', 'dashboard', '--verb=list', '--resource=nodes,pods,nodepools.karpenter.sh'];
    await plane.kubectl(role);
    const bind = ['create', 'clusterrolebinding', 'viewer', '--clusterrole=dashboard'];
    await plane.kubectl([...bind, '--serviceaccount=default:viewer']);
    const [viewer, stranger] = [await tokenOf('viewer'), await tokenOf('stranger')];
    const asked = (token: string, headers: Record<string, string> = {}): Promise<number> =>
      httpCode(ports.dashboard, '/api/now', { ...headers, ...(token && { authorization: `Bearer ${token}` }) });
    expect(await asked(viewer)).toBe(200);
    expect(await asked(stranger)).toBe(401);
    expect(await asked('')).toBe(401);
    expect(await asked(`${viewer}x`)).toBe(401);
    // Rights are no use on another site's behalf.
    expect(await asked(viewer, { host: 'attacker.example' })).toBe(403);
    expect(await asked(viewer, { origin: 'https://attacker.example' })).toBe(403);
  });

  it('drains and gives everything back when the claims are deleted', async () => {
    const { plane, kube, arm } = program;
    await plane.kubectl(['delete', 'deployment', 'web']);
    const deleted = await plane.kubectl(['delete', 'nodeclaims', '--all', '--timeout=90s']);
    expect(deleted).toMatchObject({ code: 0 });
    expect((await kube.list(Kinds.Node)).items).toEqual([]);
    expect(arm.virtualMachines()).toEqual([]);
  });

  it('stops in good order and lets the lease go', async () => {
    expect(await program.end('SIGTERM')).toBe(0);
    const lease = await program.kube.get(Kinds.Lease, { name: 'karpenter-leader-election', namespace: 'kube-system' });
    expect(lease.spec?.holderIdentity ?? '').toBe('');
  });

  it('names every mistake in its options at once', async () => {
    const child = spawn(process.execPath, [BINARY, 'run', '--metrics-port=banana'], {
      env: { PATH: process.env['PATH'] },
    });
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(2);
    expect(text).toContain('metrics-port');
    expect(text).toContain('CLUSTER_NAME');
    expect(text).toContain('VNET_SUBNET_ID');
  });
});
