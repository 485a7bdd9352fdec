import { Kinds, type Event, type Node, type Pod } from '../../src/api/kinds.ts';
import type { NodeClaim } from '../../src/api/kinds/nodeClaim.ts';
import type { NodePool } from '../../src/api/kinds/nodePool.ts';
import { Labels } from '../../src/api/labels.ts';
import type { Condition, KubeObject, ResourceKind } from '../../src/api/object.ts';
import { SeededRandom } from '../../src/clock/seededRandom.ts';
import type { Clock } from '../../src/clock/clock.ts';
import type { Random } from '../../src/clock/random.ts';
import { VirtualClock } from '../../src/clock/virtualClock.ts';
import type { CloudProvider } from '../../src/cloud/cloudProvider.ts';
import { createWorld, type EngineWorld } from '../../src/controllers/createWorld.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { Kube } from '../../src/kube/kube.ts';
import { silentLog, type Log } from '../../src/kube/log.ts';
import type { MetricsRegistry } from '../../src/kube/metrics.ts';
import type { Controller } from '../../src/kube/runtime/controller.ts';
import { Manager } from '../../src/kube/runtime/manager.ts';
import type { MachinePace } from '../../src/local/kubelet/machine.ts';
import { LocalCluster } from './localCluster.ts';
import { MemoryCloud } from './memoryCloud.ts';
import { RecordedMetrics } from './recordedMetrics.ts';

export interface WorkbenchOptions {
  readonly controllers?: (engine: EngineWorld) => readonly Controller[];
  /** The whole engine, or another, instead of some controllers. */
  readonly engine?: (ports: EnginePorts) => { run(signal: AbortSignal): Promise<void> };
  readonly pace?: Partial<MachinePace>;
  readonly log?: Log;
  /** Stands between the engine and the API server. */
  readonly decorate?: (kube: Kube) => Kube;
  /** Stands between the engine and the cloud. */
  readonly decorateCloud?: (cloud: CloudProvider) => CloudProvider;
}

export interface EnginePorts {
  readonly kube: Kube;
  readonly cloud: CloudProvider;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
}

export const START = Date.UTC(2026, 0, 1);
export const CLASS_REF = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };
export const CLASS_LABEL = 'karpenter.kwok.sh/kwoknodeclass';

/**
 * Test support: one or a few loops on a live local cluster under the virtual clock. The cluster and the cloud stay
 * when the engine is restarted.
 */
export class Workbench {
  readonly clock = new VirtualClock(START);
  readonly random = new SeededRandom(11);
  readonly local: LocalCluster;
  readonly cloud: MemoryCloud;
  readonly metrics = new RecordedMetrics(() => this.clock.now());
  private readonly options: WorkbenchOptions;
  private readonly stop = new AbortController();
  private readonly cluster: Promise<void>;
  private engine: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;

  private constructor(options: WorkbenchOptions) {
    this.options = options;
    const { clock, random } = this;
    this.local = new LocalCluster({ clock, random, log: silentLog, ...(options.pace && { pace: options.pace }) });
    this.cloud = new MemoryCloud({ clock, power: this.local.kubelets });
    this.cluster = this.local.run(this.stop.signal);
  }

  static async start(options: WorkbenchOptions): Promise<Workbench> {
    const bench = new Workbench(options);
    await bench.local.installCrds();
    await bench.kube.create(Kinds.KWOKNodeClass, { metadata: { name: 'default' } });
    bench.startEngine();
    await bench.clock.idle();
    return bench;
  }

  get kube(): Kube {
    return this.local.kube;
  }

  startEngine(): void {
    const { clock, random, metrics } = this;
    const {
      log = silentLog,
      decorate = (kube: Kube) => kube,
      decorateCloud = (cloud: CloudProvider) => cloud,
    } = this.options;
    const ports = { kube: decorate(this.kube), cloud: decorateCloud(this.cloud), clock, random, log, metrics };
    const stop = new AbortController();
    const engine = this.options.engine?.(ports) ?? this.someControllers(ports);
    this.engine = { stop, ended: engine.run(stop.signal) };
  }

  private someControllers(ports: EnginePorts): Manager {
    const engine = createWorld(ports);
    const manager = new Manager({ ...ports, informers: engine.informers });
    for (const controller of this.options.controllers?.(engine) ?? []) manager.add(controller);
    return manager;
  }

  async stopEngine(): Promise<void> {
    const engine = this.engine;
    this.engine = undefined;
    engine?.stop.abort();
    await this.drive(engine?.ended);
  }

  async close(): Promise<void> {
    await this.stopEngine();
    this.stop.abort();
    await this.drive(this.cluster);
    await this.local.close();
  }

  /** Stopping may take virtual time; let it pass. */
  private async drive(work: Promise<void> | undefined): Promise<void> {
    if (!work) return;
    let ended = false;
    const watched = work.finally(() => {
      ended = true;
    });
    await Promise.all([watched, this.clock.runUntil(() => ended)]);
  }

  advance(milliseconds: number): Promise<void> {
    return this.clock.advance(milliseconds);
  }

  async find<T extends KubeObject>(kind: ResourceKind<T>, name: string, namespace?: string): Promise<T | undefined> {
    try {
      return await this.kube.get(kind, { name, ...(namespace && { namespace }) });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  claim(name: string): Promise<NodeClaim> {
    return this.kube.get(Kinds.NodeClaim, { name });
  }

  async claims(): Promise<readonly NodeClaim[]> {
    return (await this.kube.list(Kinds.NodeClaim)).items;
  }

  async nodes(): Promise<readonly Node[]> {
    return (await this.kube.list(Kinds.Node)).items;
  }

  async pods(): Promise<readonly Pod[]> {
    return (await this.kube.list(Kinds.Pod, { namespace: 'default' })).items;
  }

  /** The condition of a claim, brief: "Unknown NodeNotFound". */
  async condition(name: string, type: string): Promise<string | undefined> {
    const found = conditionOf(await this.claim(name), type);
    return found && `${found.status} ${found.reason ?? ''}`.trim();
  }

  /** What the engine has said, not what the cluster's own components have. */
  async events(reason: string): Promise<readonly Event[]> {
    const { items } = await this.kube.list(Kinds.Event);
    return items.filter((event) => event.reason === reason && event.source?.component === 'karpenter');
  }

  createPool(name = 'default', spec: Partial<NodePool['spec']> = {}): Promise<NodePool> {
    return this.kube.create(Kinds.NodePool, { metadata: { name }, spec: { ...poolSpec(), ...spec } });
  }

  createClaim(
    name: string,
    spec: Partial<NodeClaim['spec']> = {},
    metadata: Partial<NodeClaim['metadata']> = {},
  ): Promise<NodeClaim> {
    return this.kube.create(Kinds.NodeClaim, {
      metadata: {
        name,
        ...metadata,
        labels: { [Labels.nodePool]: 'default', [CLASS_LABEL]: 'default', ...metadata.labels },
      },
      spec: {
        nodeClassRef: CLASS_REF,
        requirements: [{ key: Labels.instanceType, operator: 'In', values: ['m2'] }],
        resources: { requests: { cpu: '1', pods: '1' } },
        expireAfter: 'Never',
        ...spec,
      },
    });
  }

  createPod(
    name: string,
    spec: Partial<NonNullable<Pod['spec']>> = {},
    metadata: Partial<Pod['metadata']> = {},
  ): Promise<Pod> {
    return this.kube.create(Kinds.Pod, {
      metadata: { name, namespace: 'default', ...metadata },
      spec: { containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '500m' } } }], ...spec },
    });
  }
}

export function conditionOf(object: KubeObject, type: string): Condition | undefined {
  const { status } = object as { status?: { conditions?: readonly Condition[] } };
  return status?.conditions?.find((condition) => condition.type === type);
}

export function poolSpec(): NodePool['spec'] {
  return {
    disruption: {
      consolidateAfter: '0s',
      consolidationPolicy: 'WhenEmptyOrUnderutilized',
      budgets: [{ nodes: '10%' }],
    },
    template: { spec: { nodeClassRef: CLASS_REF, requirements: [], expireAfter: 'Never' } },
  };
}
