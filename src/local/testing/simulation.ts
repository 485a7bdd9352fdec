/** Test support: a local world under a virtual clock, without sockets. In: a seed. Out: the world, and time to pass. */
import { createHash } from 'node:crypto';
import { Kinds, type Pod } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import type { Draft, Kube } from '../../kube/kube.ts';
import { silentLog } from '../../kube/log.ts';
import type { Machine } from '../kubelet/machine.ts';
import { LocalWorld, type LocalWorldOptions } from '../localWorld.ts';

/** A Monday morning. */
const START = Date.UTC(2026, 0, 5, 9);

export interface MachineShape {
  readonly cpu?: string;
  readonly memory?: string;
  readonly zone?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: Machine['taints'];
  readonly size?: string;
}

export function machine(name: string, shape: MachineShape = {}): Machine {
  const resources = { cpu: shape.cpu ?? '4', memory: shape.memory ?? '16Gi', pods: '110' };
  const zone = shape.zone ?? 'eastus-1';
  return {
    name,
    providerID: `azure:///machines/${name}`,
    labels: {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'topology.kubernetes.io/zone': zone,
      'topology.disk.csi.azure.com/zone': zone,
      'node.kubernetes.io/instance-type': shape.size ?? 'Standard_D4s_v5',
      ...shape.labels,
    },
    taints: shape.taints ?? [],
    capacity: resources,
    allocatable: resources,
    kubeletVersion: 'v1.34.0',
    osImage: 'Linux',
  };
}

export class Simulation {
  readonly clock = new VirtualClock(START, { quietTurns: 2 });
  readonly world: LocalWorld;
  private readonly stopWorld = new AbortController();
  private readonly running: Promise<void>;

  constructor(seed: number | string = 1, options: Partial<LocalWorldOptions> = {}) {
    const random = new SeededRandom(seed);
    this.world = new LocalWorld({
      clock: this.clock,
      random,
      faultRandom: new SeededRandom(`faults of ${seed}`),
      log: silentLog,
      leasePeriod: 30_000,
      quiet: true,
      ...options,
    });
    this.running = this.world.run(this.stopWorld.signal);
  }

  get kube(): Kube {
    return this.world.kube;
  }

  /** Powers machines on and waits until they are Ready. */
  async boot(...machines: readonly Machine[]): Promise<void> {
    for (const each of machines) this.world.powerOn(each);
    await this.advance(15_000);
  }

  advance(milliseconds: number): Promise<void> {
    return this.clock.advance(milliseconds);
  }

  async create<T extends KubeObject>(kind: ResourceKind<T>, object: Draft<T>): Promise<T> {
    return this.kube.create(kind, object);
  }

  /** Lets time pass until the check holds; fails when it does not within `within` milliseconds. */
  async until(check: () => Promise<boolean>, within = 600_000): Promise<void> {
    const end = this.clock.now() + within;
    while (!(await check())) {
      if (this.clock.now() >= end) throw new Error(`it did not come true within ${within / 1000} s`);
      await this.advance(1_000);
    }
  }

  async pods(labelSelector?: string): Promise<readonly Pod[]> {
    const { items } = await this.kube.list(Kinds.Pod, labelSelector === undefined ? {} : { labelSelector });
    return [...items].sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1));
  }

  /** Everything there is of the kinds, to the byte. */
  async fingerprint(kinds: readonly ResourceKind<KubeObject>[]): Promise<string> {
    const hash = createHash('sha256');
    for (const kind of kinds) hash.update(JSON.stringify(await this.kube.list(kind)));
    return hash.digest('hex');
  }

  async stop(): Promise<void> {
    this.stopWorld.abort();
    await this.clock.advance(30_000);
    await this.running;
    await this.world.close();
  }
}

export function container(requests: Readonly<Record<string, string>> = { cpu: '500m', memory: '512Mi' }): object {
  return { name: 'main', image: 'nginx', resources: { requests } };
}
