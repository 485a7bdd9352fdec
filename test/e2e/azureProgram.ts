/** The built program against a real control plane; only Azure and the instances are local. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderCrds } from '../../src/api/crds.ts';
import { Kinds } from '../../src/api/kinds.ts';
import { SystemClock } from '../../src/clock/systemClock.ts';
import { systemRandom } from '../../src/clock/systemRandom.ts';
import { HttpKube } from '../../src/kube/httpKube.ts';
import { Informers } from '../../src/kube/informer.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import { silentLog } from '../../src/kube/log.ts';
import { Manager } from '../../src/kube/runtime/manager.ts';
import { keepAll } from '../../src/kube/trim.ts';
import { LocalArm, type LocalArmOptions } from '../../src/local/arm/localArm.ts';
import { bootInstance } from '../../src/local/kubelet/bootInstance.ts';
import { Kubelets } from '../../src/local/kubelet/kubelets.ts';
import { startControlPlane, type ControlPlane } from '../controlplane/controlPlane.ts';
import { eventually } from '../controlplane/eventually.ts';
import { freeLoopbackPort } from '../controlplane/loopbackPort.ts';

export const BINARY = join(import.meta.dirname, '../../dist/nodewright.js');

interface AzureProgramOptions {
  readonly faults?: LocalArmOptions['faults'];
}

export class AzureProgram {
  readonly plane: ControlPlane;
  readonly arm: LocalArm;
  readonly kube: HttpKube;
  readonly log: string;
  readonly ports: { readonly metrics: number; readonly health: number; readonly dashboard: number };
  private readonly stopping = new AbortController();
  private readonly instances: Promise<void>;
  private child: ChildProcess | undefined;

  private constructor(parts: Pick<AzureProgram, 'plane' | 'arm' | 'kube' | 'ports'>) {
    this.plane = parts.plane;
    this.arm = parts.arm;
    this.kube = parts.kube;
    this.ports = parts.ports;
    this.log = join(this.plane.workDir, 'nodewright.log');
    this.instances = this.playInstances();
  }

  /** Prepares everything except the program, which `launch` starts. */
  static async prepare(options: AzureProgramOptions = {}): Promise<AzureProgram> {
    const clock = new SystemClock();
    const plane = await startControlPlane({ scheduler: true, controllerManager: true });
    const config = await loadKubeconfig({ path: plane.adminKubeconfig });
    const kube = new HttpKube({ config, clock, random: systemRandom });
    for (const crd of renderCrds()) await kube.create(Kinds.CustomResourceDefinition, crd);
    await eventually('the CRDs are served', async () =>
      (await plane.kubectl(['get', 'nodepools,nodeclaims,aksnodeclasses'])).code === 0 ? true : undefined,
    );
    const arm = new LocalArm({
      clock,
      random: systemRandom,
      durations: { networkInterface: 100, virtualMachineCreate: 500, virtualMachineDelete: 500 },
      ...(options.faults && { faults: options.faults }),
    });
    await arm.listen();
    const ports = {
      metrics: await freeLoopbackPort(),
      health: await freeLoopbackPort(),
      dashboard: await freeLoopbackPort(),
    };
    return new AzureProgram({ plane, arm, kube, ports });
  }

  /** `environment`: variables besides those that are needed. */
  async launch(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    const { plane, arm, ports } = this;
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
    const args = [`--metrics-port=${ports.metrics}`, `--health-probe-port=${ports.health}`];
    this.child = spawn(process.execPath, [BINARY, 'run', ...args, `--log-output-paths=${this.log}`], {
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
        ...environment,
      },
    });
  }

  /** Ends the program; its exit code. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const { child } = this;
    if (child === undefined) return null;
    this.child = undefined;
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    child.kill(signal);
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  }

  async close(): Promise<void> {
    await this.end('SIGKILL');
    this.stopping.abort();
    await this.instances;
    await this.arm.close();
    await this.kube.close();
    await this.plane.stop();
  }

  private playInstances(): Promise<void> {
    const { kube, arm } = this;
    const ports = { kube, clock: new SystemClock(), random: systemRandom, log: silentLog };
    const informers = new Informers(ports);
    const indexes = {
      'spec.nodeName': ({ spec }: { spec?: { nodeName?: string } }) => (spec?.nodeName ? [spec.nodeName] : []),
    };
    const pods = informers.of(Kinds.Pod, { indexes, transform: keepAll });
    const pace = { boot: 200, ready: 200, podStart: 100, podStop: 100 };
    const kubelets = new Kubelets({ ...ports, pods, pace });
    arm.onVirtualMachine(({ type, vm }) => {
      const instance = type === 'created' ? bootInstance(vm) : undefined;
      if (instance) kubelets.powerOn(instance);
      if (type === 'deleted') kubelets.powerOff(vm.computerName);
    });
    const manager = new Manager({ ...ports, informers });
    for (const controller of kubelets.controllers()) manager.add(controller);
    return manager.run(this.stopping.signal);
  }
}
