import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderCrds } from '../../src/api/crds.ts';
import { Kinds } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { SystemClock } from '../../src/clock/systemClock.ts';
import { systemRandom } from '../../src/clock/systemRandom.ts';
import { HttpKube } from '../../src/kube/httpKube.ts';
import { Informers } from '../../src/kube/informer.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { silentLog } from '../../src/kube/log.ts';
import { Manager } from '../../src/kube/runtime/manager.ts';
import { keepAll } from '../../src/kube/trim.ts';
import { LocalArm } from '../../src/local/arm/localArm.ts';
import { bootInstance } from '../../src/local/kubelet/bootInstance.ts';
import { Kubelets } from '../../src/local/kubelet/kubelets.ts';
import { defaultNodeClass, defaultPools } from '../../src/nap/defaultPools.ts';
import { startControlPlane, type ControlPlane } from '../controlplane/controlPlane.ts';
import { eventually } from '../controlplane/eventually.ts';
import { freeLoopbackPort } from '../controlplane/loopbackPort.ts';

const BINARY = join(import.meta.dirname, '../../dist/nodewright.js');

/** The program as it ships, against a real control plane; only Azure and the instances are local. */
describe('nodewright run', () => {
  const clock = new SystemClock();
  const stop = new AbortController();
  let plane: ControlPlane;
  let arm: LocalArm;
  let kube: HttpKube;
  let instances: Promise<void>;
  let program: ChildProcess;
  let log: string;
  let ports: { readonly metrics: number; readonly health: number };

  beforeAll(async () => {
    plane = await startControlPlane({ scheduler: true, controllerManager: true });
    const config = await loadKubeconfig({ path: plane.adminKubeconfig });
    kube = new HttpKube({ config, clock, random: systemRandom });
    for (const crd of renderCrds()) await kube.create(Kinds.CustomResourceDefinition, crd);
    await eventually('the CRDs are served', async () =>
      (await plane.kubectl(['get', 'nodepools,nodeclaims,aksnodeclasses'])).code === 0 ? true : undefined,
    );
    await kube.create(Kinds.AKSNodeClass, defaultNodeClass);
    for (const pool of defaultPools) await kube.create(Kinds.NodePool, pool);

    arm = new LocalArm({
      clock,
      random: systemRandom,
      durations: { networkInterface: 100, virtualMachineCreate: 500, virtualMachineDelete: 500 },
    });
    await arm.listen();
    instances = playInstances();
    ports = { metrics: await freeLoopbackPort(), health: await freeLoopbackPort() };
    program = await startProgram();
  });

  afterAll(async () => {
    if (program?.exitCode === null) {
      program.kill('SIGKILL');
      await once(program, 'exit');
    }
    stop.abort();
    await instances;
    await arm?.close();
    await kube?.close();
    await plane?.stop();
  });

  function playInstances(): Promise<void> {
    const informers = new Informers({ kube, clock, random: systemRandom });
    const indexes = {
      'spec.nodeName': ({ spec }: { spec?: { nodeName?: string } }) => (spec?.nodeName ? [spec.nodeName] : []),
    };
    const pods = informers.of(Kinds.Pod, { indexes, transform: keepAll });
    const pace = { boot: 200, ready: 200, podStart: 100, podStop: 100 };
    const ports_ = { kube, clock, random: systemRandom, log: silentLog };
    const kubelets = new Kubelets({ ...ports_, pods, pace });
    arm.onVirtualMachine(({ type, vm }) => {
      const instance = type === 'created' ? bootInstance(vm) : undefined;
      if (instance) kubelets.powerOn(instance);
      if (type === 'deleted') kubelets.powerOff(vm.computerName);
    });
    const manager = new Manager({ ...ports_, informers });
    for (const controller of kubelets.controllers()) manager.add(controller);
    return manager.run(stop.signal);
  }

  async function startProgram(): Promise<ChildProcess> {
    log = join(plane.workDir, 'nodewright.log');
    const environmentFile = join(plane.workDir, 'azure.json');
    const caFile = join(plane.workDir, 'azure-ca.pem');
    await writeFile(caFile, arm.caPem);
    const endpoints = {
      resourceManagerEndpoint: arm.endpoint,
      activeDirectoryEndpoint: arm.endpoint,
      tokenAudience: arm.endpoint,
    };
    await writeFile(environmentFile, JSON.stringify(endpoints));
    const { tenantId, clientId, clientSecret } = arm.credentials;
    return spawn(
      process.execPath,
      [
        BINARY,
        'run',
        `--metrics-port=${ports.metrics}`,
        `--health-probe-port=${ports.health}`,
        `--log-output-paths=${log}`,
      ],
      {
        stdio: ['ignore', 'inherit', 'inherit'],
        env: {
          PATH: process.env['PATH'],
          KUBECONFIG: plane.adminKubeconfig,
          NODE_EXTRA_CA_CERTS: caFile,
          AZURE_ENVIRONMENT_FILEPATH: environmentFile,
          AZURE_TENANT_ID: tenantId,
          AZURE_CLIENT_ID: clientId,
          AZURE_CLIENT_SECRET: clientSecret,
          AZURE_SUBSCRIPTION_ID: arm.subscriptionId,
          LOCATION: arm.location,
          AZURE_NODE_RESOURCE_GROUP: arm.nodeResourceGroup,
          CLUSTER_NAME: 'e2e',
          CLUSTER_ENDPOINT: plane.server,
          KUBELET_BOOTSTRAP_TOKEN: 'abcdef.0123456789abcdef',
          SSH_PUBLIC_KEY: 'ssh-ed25519 AAAA test',
          VNET_SUBNET_ID: arm.network.subnetId,
          LEADER_ELECTION_NAMESPACE: 'kube-system',
        },
      },
    );
  }

  const httpCode = async (port: number, path: string): Promise<number> => {
    try {
      const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`);
      await body.dump();
      return statusCode;
    } catch {
      return 0;
    }
  };

  it('becomes ready and holds the lease under the name that Karpenter uses', async () => {
    await eventually('ready', async () => ((await httpCode(ports.health, '/readyz')) === 200 ? true : undefined));
    expect(await httpCode(ports.health, '/healthz')).toBe(200);
    const lease = await eventually('a leader', async () => {
      const { items } = await kube.list(Kinds.Lease, { namespace: 'kube-system' });
      return items.find(({ metadata, spec }) => metadata.name === 'karpenter-leader-election' && spec?.holderIdentity);
    });
    expect(lease.spec?.holderIdentity).toMatch(/_[0-9a-f-]{36}$/);
  });

  it('buys instances for pending pods, which then run', async () => {
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

  it('drains and gives everything back when the claims are deleted', async () => {
    await plane.kubectl(['delete', 'deployment', 'web']);
    const deleted = await plane.kubectl(['delete', 'nodeclaims', '--all', '--timeout=90s']);
    expect(deleted).toMatchObject({ code: 0 });
    expect((await kube.list(Kinds.Node)).items).toEqual([]);
    expect(arm.virtualMachines()).toEqual([]);
  });

  it('stops in good order and lets the lease go', async () => {
    program.kill('SIGTERM');
    const [code] = (await once(program, 'exit')) as [number];
    expect(code).toBe(0);
    const lease = await kube.get(Kinds.Lease, { name: 'karpenter-leader-election', namespace: 'kube-system' });
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
