/**
 * Test support: the built program on a real control plane, without any cloud. Nodes are only objects, `kubelet-sim`
 * simulates their kubelets, and the program's logs and metrics can be read.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import { request } from 'undici';
import { renderCrds } from '../../../src/api/crds.ts';
import { Kinds, type CustomResourceDefinition, type Node, type Pod } from '../../../src/api/kinds.ts';
import type { NodeClaim } from '../../../src/api/kinds/nodeClaim.ts';
import type { NodePool } from '../../../src/api/kinds/nodePool.ts';
import { Labels } from '../../../src/api/labels.ts';
import { SystemClock } from '../../../src/clock/systemClock.ts';
import { systemRandom } from '../../../src/clock/systemRandom.ts';
import { HttpKube } from '../../../src/kube/httpKube.ts';
import { loadKubeconfig } from '../../../src/kube/kubeconfig.ts';
import { startControlPlane, type ControlPlane } from '../../controlplane/controlPlane.ts';
import { eventually } from '../../controlplane/eventually.ts';
import { freeLoopbackPort } from '../../controlplane/loopbackPort.ts';
import { renderChart } from '../../../src/aks/renderChart.ts';

const BINARY = join(import.meta.dirname, '../../../dist/nodewright.js');
const CHART = join(import.meta.dirname, '../../../charts/nodewright');
const NAMESPACE = 'kube-system';
const RIGHTS = new Set(['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding']);
/** On-demand and spot; reservations only where a test requests them. */
const BOUGHT = { key: Labels.capacityType, operator: 'In' as const, values: ['spot', 'on-demand'] };
const BRISK = { 'kube-api-qps': '1000', 'kube-api-burst': '2000' };
const OUTPUT_LIMIT = 400_000;

const CLASS_REF = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };

/** A started program, with the end of its output. */
export class Program {
  readonly metricsPort: number;
  private readonly child: ChildProcess;
  private lines = '';

  constructor(command: readonly [string, ...string[]], kubeconfig: string, metricsPort: number) {
    this.metricsPort = metricsPort;
    const environment = { PATH: process.env['PATH'], KUBECONFIG: kubeconfig };
    const [executable, ...args] = command;
    this.child = spawn(executable, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.lines = (this.lines + text).slice(-OUTPUT_LIMIT);
      });
    }
  }

  get output(): string {
    return this.lines;
  }

  /** The log lines whose message contains `part`. */
  logged(part: string): readonly Record<string, unknown>[] {
    return this.lines
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}') && line.includes(part))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ message }) => String(message).includes(part));
  }

  /** True once its metrics can be read. */
  async answers(): Promise<true | undefined> {
    try {
      await this.metric('karpenter_build_info');
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return undefined;
      throw error;
    }
  }

  /** The sum of the series of a metric whose labels include all of `labels`; 0 when there is none. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    // A connection of its own, because a busy program closes idle connections just when they are reused.
    const { body } = await request(`http://127.0.0.1:${this.metricsPort}/metrics`, { reset: true });
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    return (await body.text())
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => wanted.every((part) => line.includes(part)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill(signal);
    await ended;
  }
}

export class KwokCluster {
  readonly plane: ControlPlane;
  readonly kube: HttpKube;
  /** A user with the chart's RBAC only. */
  private readonly account: string;
  private readonly programs: Program[] = [];

  private constructor(plane: ControlPlane, kube: HttpKube, account: string) {
    this.plane = plane;
    this.kube = kube;
    this.account = account;
  }

  /** A control plane with definitions (ours, unless given), one node class, and simulated kubelets. */
  static async start(definitions: readonly CustomResourceDefinition[] = renderCrds()): Promise<KwokCluster> {
    const plane = await startControlPlane({
      scheduler: true,
      controllerManager: true,
      // Kubelets are only simulated, so no other controller should evaluate them.
      controllerManagerControllers: ['*', '-node-lifecycle-controller'],
      // Without these flags, their own rate limits would dominate the measurement.
      controllerManagerFlags: BRISK,
      schedulerFlags: BRISK,
    });
    const config = await loadKubeconfig({ path: plane.adminKubeconfig });
    const kube = new HttpKube({ config, clock: new SystemClock(), random: systemRandom, qps: 500, burst: 1_000 });
    const account = await plane.kubeconfigFor(`system:serviceaccount:${NAMESPACE}:nodewright`);
    const cluster = new KwokCluster(plane, kube, account);
    await installDefinitions(plane, definitions);
    await installRights(plane);
    await kube.create(Kinds.KWOKNodeClass, { metadata: { name: 'default' } });
    const kubelets = [process.execPath, BINARY, 'kubelet-sim', '--pod-stop-delay', '100ms'] as const;
    cluster.launch(plane.adminKubeconfig, 0, [...kubelets]);
    return cluster;
  }

  /**
   * `nodewright run` with the chart's RBAC. Without a lease unless `elects`: on a busy machine a lease is easily lost,
   * which other tests cover.
   */
  async run(args: readonly string[] = [], { elects = false } = {}): Promise<Program> {
    const command = [process.execPath, BINARY, 'run', '--cloud-provider=kwok'] as const;
    return this.control(this.account, [...command, `--disable-leader-election=${!elects}`, ...args]);
  }

  /** `nodewright run` with all rights: where the chart of another provider is installed, its rights are not enough. */
  async runWithAllRights(): Promise<Program> {
    const command = [process.execPath, BINARY, 'run', '--cloud-provider=kwok'] as const;
    return this.control(this.plane.adminKubeconfig, [...command, '--disable-leader-election=true']);
  }

  /** Another program in place of ours, with all rights. */
  async runPeer(executable: string): Promise<Program> {
    return this.control(this.plane.adminKubeconfig, [executable, '--disable-leader-election=true']);
  }

  async stop(): Promise<void> {
    await Promise.all(this.programs.map((program) => program.end()));
    await this.kube.close();
    await this.plane.stop();
  }

  /** Like `eventually`; errors include the programs' last output. */
  async eventually<T>(what: string, ask: () => Promise<T | undefined> | T | undefined): Promise<T> {
    try {
      return await eventually(what, ask, 90_000);
    } catch (error) {
      const said = this.programs.map(({ output }) => output.slice(-6_000)).join('\n---\n');
      throw new Error(`${String(error)}\n${said}`, { cause: error });
    }
  }

  /** A pool of small amd64 nodes; `spec` and `template` go on top. */
  async pool(
    name: string,
    spec: Partial<NodePool['spec']> = {},
    template: Partial<NodePool['spec']['template']['spec']> = {},
    labels: Record<string, string> = {},
  ): Promise<NodePool> {
    const { requirements = [], ...rest } = template;
    return this.kube.create(Kinds.NodePool, {
      metadata: { name },
      spec: {
        disruption: {
          consolidateAfter: 'Never',
          consolidationPolicy: 'WhenEmptyOrUnderutilized',
          budgets: [{ nodes: '10%' }],
        },
        ...spec,
        template: {
          metadata: { labels },
          spec: {
            nodeClassRef: CLASS_REF,
            expireAfter: 'Never',
            ...rest,
            requirements: [
              { key: Labels.arch, operator: 'In', values: ['amd64'] },
              { key: Labels.os, operator: 'In', values: ['linux'] },
              { key: 'karpenter.kwok.sh/instance-cpu', operator: 'Lt', values: ['10'] },
              ...(requirements.some(({ key }) => key === Labels.capacityType) ? [] : [BOUGHT]),
              ...requirements,
            ],
          },
        },
      },
    });
  }

  /** Pods without requests of their own ask for half a core. */
  async deployment(
    name: string,
    replicas: number,
    spec: Partial<PodSpec> = {},
    metadata: { readonly labels?: Record<string, string>; readonly annotations?: Record<string, string> } = {},
  ): Promise<void> {
    const labels = { app: name, ...metadata.labels };
    await this.kube.create(Kinds.Deployment, {
      metadata: { name, namespace: 'default' },
      spec: {
        replicas,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { ...metadata, labels },
          spec: {
            terminationGracePeriodSeconds: 1,
            containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '500m' } } }],
            ...spec,
          },
        },
      },
    });
  }

  async pods(labels: Readonly<Record<string, string>> = {}): Promise<readonly Pod[]> {
    return this.list(Kinds.Pod, labels);
  }

  async nodes(labels: Readonly<Record<string, string>> = {}): Promise<readonly Node[]> {
    return this.list(Kinds.Node, labels);
  }

  async claims(labels: Readonly<Record<string, string>> = {}): Promise<readonly NodeClaim[]> {
    return this.list(Kinds.NodeClaim, labels);
  }

  private async list<T extends Node | Pod | NodeClaim>(
    kind: Parameters<HttpKube['list']>[0],
    labels: Readonly<Record<string, string>>,
  ): Promise<readonly T[]> {
    const labelSelector = Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(',');
    const namespace = kind.kind === 'Pod' ? { namespace: 'default' } : {};
    return (await this.kube.list(kind, { ...namespace, ...(labelSelector && { labelSelector }) }))
      .items as unknown as readonly T[];
  }

  private async control(kubeconfig: string, command: readonly [string, ...string[]]): Promise<Program> {
    const [metrics, health] = [await freeLoopbackPort(), await freeLoopbackPort()];
    const program = this.launch(kubeconfig, metrics, [
      ...command,
      `--leader-election-namespace=${NAMESPACE}`,
      `--metrics-port=${metrics}`,
      `--health-probe-port=${health}`,
    ]);
    await this.eventually('the program answers', () => program.answers());
    return program;
  }

  private launch(kubeconfig: string, metricsPort: number, command: readonly [string, ...string[]]): Program {
    const program = new Program(command, kubeconfig, metricsPort);
    this.programs.push(program);
    return program;
  }
}

async function installDefinitions(
  plane: ControlPlane,
  definitions: readonly CustomResourceDefinition[],
): Promise<void> {
  await apply(plane, definitions);
  const names = definitions.map(({ metadata }) => `crd/${metadata.name}`);
  const waited = await plane.kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...names]);
  if (waited.code !== 0) throw new Error(`definitions are not established: ${waited.stderr}`);
}

async function apply(plane: ControlPlane, items: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  const applied = await plane.kubectl(['apply', '--server-side', '-f', '-'], { input });
  if (applied.code !== 0) throw new Error(`kubectl apply: ${applied.stderr}`);
}

async function installRights(plane: ControlPlane): Promise<void> {
  const values = { cloudProvider: 'kwok', image: { repository: 'none' } };
  const objects = renderChart(CHART, values, { Name: 'nodewright', Namespace: NAMESPACE });
  await apply(
    plane,
    objects.filter(({ kind }) => RIGHTS.has(kind)),
  );
}

export const isRunning = ({ status, metadata }: Pod): boolean =>
  status?.phase === 'Running' && metadata.deletionTimestamp === undefined;
