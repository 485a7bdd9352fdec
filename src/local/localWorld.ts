/** An AKS in one process: an ARM API, a first cluster, and the clusters that clients create. */
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import type { Kube } from '../kube/kube.ts';
import type { Endpoint } from './apiserver/localApiServer.ts';
import type { ArmDurations } from './arm/armContext.ts';
import type { ClusterName } from './arm/containerservice/managedCluster.ts';
import { LocalArm } from './arm/localArm.ts';
import { ArmFaults } from './faults/armFaults.ts';
import { Faults } from './faults/faults.ts';
import { LocalCluster, type CommonClusterOptions } from './localCluster.ts';
import { keyOf, LocalFleet } from './localFleet.ts';
import type { BootedInstance } from './kubelet/instance.ts';

export interface LocalWorldOptions extends CommonClusterOptions {
  /** The clock of clients in other processes, if `clock` runs faster: tokens expire by it. */
  readonly wallClock?: Clock;
  readonly armDurations?: Partial<ArmDurations>;
  readonly location?: string;
  /** Separate randomness for faults, so that a fault does not change other random choices. */
  readonly faultRandom?: Random;
  /** Files that keep the world between processes; an existing world is resumed from them. */
  readonly state?: WorldState;
}

export interface WorldState {
  /** The API server's objects. */
  readonly cluster: string;
  /** A folder for the objects of clusters that clients create. */
  readonly clusters: string;
  /** Azure's resources. */
  readonly azure: string;
  /** Must be the same in every process, because it is part of all ids. */
  readonly subscriptionId: string;
}

/** One change of the world, as JSON. */
export type WorldChange =
  | { readonly table: string; readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: unknown }
  | { readonly azure: unknown };

export class LocalWorld {
  readonly arm: LocalArm;
  /** The active faults. */
  readonly faults: Faults;
  /** The clusters that clients create; they run while the fleet does. */
  readonly fleet: LocalFleet;
  private readonly main: LocalCluster;

  constructor(options: LocalWorldOptions) {
    const { faultRandom, location, armDurations, state, wallClock, ...ofClusters } = options;
    const { clock, random, log } = ofClusters;
    this.faults = new Faults({ clock, random: faultRandom ?? random });
    const common = { ...ofClusters, faults: this.faults };
    const created: { arm?: LocalArm } = {};
    const createArm = (): LocalArm => {
      const armFaults = new ArmFaults(this.faults, location ?? 'eastus', (size) => created.arm?.familyOf(size));
      const arm = new LocalArm({
        clock,
        random,
        faults: armFaults,
        kubeconfig: (cluster, names) => this.clusterOf(cluster)?.kubeconfig(names),
        provisioningUse: (cluster) => this.clusterOf(cluster)?.provisioningUse(),
        drainNode: async (cluster, node) => this.clusterOf(cluster)?.drain(node),
        markNodes: async (cluster, pool, change) => this.clusterOf(cluster)?.mark(pool, change),
        ...(wallClock && { tokenClock: wallClock }),
        ...(location && { location }),
        ...(armDurations && { durations: armDurations }),
        ...(state && { stateFile: state.azure, subscriptionId: state.subscriptionId }),
      });
      created.arm = arm;
      armFaults.follow(arm);
      return arm;
    };
    this.main = new LocalCluster({
      ...common,
      arm: createArm,
      nodeResourceGroup: (arm) => arm.nodeResourceGroup,
      version: () => this.arm.managedCluster(this.arm.cluster)?.kubernetesVersion ?? '',
      ...(state && { stateFile: state.cluster }),
    });
    this.arm = this.main.arm;
    const { arm } = this;
    this.fleet = new LocalFleet({
      arm,
      log,
      ...(state && { folder: state.clusters }),
      create: (cluster, stateFile) =>
        new LocalCluster({
          ...common,
          arm: () => arm,
          nodeResourceGroup: () => cluster.nodeResourceGroup,
          version: () => arm.managedCluster(cluster)?.kubernetesVersion ?? cluster.kubernetesVersion,
          ...(stateFile !== undefined && { stateFile }),
        }),
    });
  }

  /** Boots an instance without a VM, for worlds without a cloud. */
  powerOn(instance: BootedInstance): void {
    this.main.powerOn(instance);
  }

  powerOff(name: string): void {
    this.main.powerOff(name);
  }

  /** The API without a network, for callers in this process. */
  get kube(): Kube {
    return this.main.kube;
  }

  /** Calls the listener with every change of the cluster and of Azure; returns a function that stops that. */
  onChange(listener: (change: WorldChange) => void): () => void {
    const stops = [
      this.main.apiServer.onWrite(({ type, object }, table) => listener({ table, type, object })),
      this.arm.onChange((azure) => listener({ azure })),
    ];
    return () => stops.forEach((stop) => stop());
  }

  /** Opens both APIs on loopback. */
  async listen(port: number): Promise<Endpoint> {
    await this.arm.listen();
    return this.main.listen(port);
  }

  writeKubeconfig(path: string): Promise<void> {
    return this.main.apiServer.writeKubeconfig(path);
  }

  /** Runs the world until `signal` aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.main.run(signal);
  }

  async close(): Promise<void> {
    await Promise.all([this.main.close(), this.fleet.close(), this.arm.close()]);
  }

  private clusterOf(cluster: ClusterName): LocalCluster | undefined {
    return keyOf(cluster) === keyOf(this.arm.cluster) ? this.main : this.fleet.find(cluster);
  }
}
