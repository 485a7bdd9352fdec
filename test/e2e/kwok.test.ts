import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderCrds } from '../../src/api/crds.ts';
import { Kinds, type Pod } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import type { HttpKube } from '../../src/kube/httpKube.ts';
import { startControlPlane, type ControlPlane } from '../controlplane/controlPlane.ts';
import { eventually } from '../controlplane/eventually.ts';
import { freeLoopbackPort } from '../controlplane/loopbackPort.ts';
import { installCrds } from './crds/installCrds.ts';
import { connections } from './kube/connect.ts';

const BINARY = join(import.meta.dirname, '../../dist/nodewright.js');
const REPLICAS = 100;

/** The program as it ships, without any cloud: Nodes are objects, and `kubelet-sim` plays their kubelets. */
describe('nodewright run --cloud-provider kwok', () => {
  const connect = connections();
  const programs: ChildProcess[] = [];
  let output = '';
  let plane: ControlPlane;
  let kube: HttpKube;

  beforeAll(async () => {
    plane = await startControlPlane({
      scheduler: true,
      controllerManager: true,
      // Kubelets here are only played; nobody else should judge them.
      controllerManagerControllers: ['*', '-node-lifecycle-controller'],
    });
    kube = await connect(plane.adminKubeconfig);
    await installCrds(plane, renderCrds());
    await kube.create(Kinds.KWOKNodeClass, { metadata: { name: 'default' } });
    await kube.create(Kinds.NodePool, {
      metadata: { name: 'default' },
      spec: {
        disruption: {
          consolidateAfter: '0s',
          consolidationPolicy: 'WhenEmptyOrUnderutilized',
          budgets: [{ nodes: '10%' }],
        },
        template: {
          spec: {
            nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
            requirements: [
              { key: Labels.arch, operator: 'In', values: ['amd64'] },
              { key: Labels.os, operator: 'In', values: ['linux'] },
              { key: 'karpenter.kwok.sh/instance-cpu', operator: 'Lt', values: ['10'] },
            ],
            expireAfter: 'Never',
          },
        },
      },
    });
    const [metrics, health] = [await freeLoopbackPort(), await freeLoopbackPort()];
    start('kubelet-sim', '--kubeconfig', plane.adminKubeconfig, '--pod-stop-delay', '100ms');
    start(
      'run',
      '--cloud-provider=kwok',
      '--leader-election-namespace=default',
      `--metrics-port=${metrics}`,
      `--health-probe-port=${health}`,
    );
  });

  afterAll(async () => {
    for (const program of programs) {
      if (program.exitCode !== null) continue;
      program.kill('SIGTERM');
      await once(program, 'exit');
    }
    await plane?.stop();
  });

  function start(...args: string[]): void {
    const environment = { ...process.env, KUBECONFIG: plane.adminKubeconfig };
    const program = spawn(process.execPath, [BINARY, ...args], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [program.stdout, program.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-20_000);
      });
    }
    programs.push(program);
  }

  const pods = async (): Promise<readonly Pod[]> => (await kube.list(Kinds.Pod, { namespace: 'default' })).items;
  const withOutput = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw new Error(`${String(error)}\n${output}`, { cause: error });
    }
  };

  it(`brings up nodes for ${REPLICAS} pods`, async () => {
    await kube.create(Kinds.Deployment, {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: REPLICAS,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: {
            containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '500m', memory: '512Mi' } } }],
          },
        },
      },
    });
    await withOutput(
      eventually('all pods run', async () => {
        const running = (await pods()).filter(({ status }) => status?.phase === 'Running');
        return running.length === REPLICAS ? true : undefined;
      }),
    );
    const claims = (await kube.list(Kinds.NodeClaim)).items;
    const nodes = (await kube.list(Kinds.Node)).items;
    expect(new Set(nodes.map(({ spec }) => spec?.providerID))).toEqual(
      new Set(claims.map(({ status }) => status?.providerID)),
    );
    expect(nodes).toHaveLength(claims.length);
    for (const { metadata } of nodes) {
      expect(metadata.labels).toMatchObject({ [Labels.registered]: 'true', 'kwok.x-k8s.io/node': 'fake' });
      expect(Number(metadata.labels?.['karpenter.kwok.sh/instance-cpu'])).toBeLessThan(10);
    }
  });

  it('replaces a node that is deleted, without losing a pod for good', async () => {
    const [node] = (await kube.list(Kinds.Node)).items;
    const name = node?.metadata.name ?? '';
    await kube.delete(Kinds.Node, { name });
    await withOutput(
      eventually('the node is gone and all pods run again', async () => {
        const left = (await kube.list(Kinds.Node)).items.some(({ metadata }) => metadata.name === name);
        const running = (await pods()).filter(
          ({ status, metadata }) => status?.phase === 'Running' && !metadata.deletionTimestamp,
        );
        return !left && running.length === REPLICAS ? true : undefined;
      }),
    );
    expect((await kube.list(Kinds.Node)).items.map(({ metadata }) => metadata.name)).not.toContain(name);
  });

  it('leaves nothing behind', async () => {
    await kube.delete(Kinds.Deployment, { name: 'web', namespace: 'default' });
    await kube.delete(Kinds.NodePool, { name: 'default' });
    await withOutput(
      eventually('nodes and claims are gone', async () => {
        const left = [...(await kube.list(Kinds.NodeClaim)).items, ...(await kube.list(Kinds.Node)).items];
        return left.length === 0 ? true : undefined;
      }),
    );
    expect(await pods()).toEqual([]);
  });
});
