/**
 * An AKS in one process: a Kubernetes API, an ARM API, a control plane, and kubelets that boot when a VM is created and
 * leave when it is deleted.
 */
import { Kinds } from '../api/kinds.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import { KubeEventRecorder } from '../kube/eventRecorder.ts';
import { Informers } from '../kube/informer.ts';
import type { Kube } from '../kube/kube.ts';
import type { Log } from '../kube/log.ts';
import { Manager } from '../kube/runtime/manager.ts';
import { LocalApiServer, type Endpoint } from './apiserver/localApiServer.ts';
import { ciliumTaintController } from './aks/ciliumTaint.ts';
import type { ArmDurations } from './arm/armContext.ts';
import { LocalArm } from './arm/localArm.ts';
import { ArmFaults } from './faults/armFaults.ts';
import { Faults } from './faults/faults.ts';
import { kubeletKube } from './faults/kubeletKube.ts';
import { MachineFaults } from './faults/machineFaults.ts';
import { serverFaults } from './faults/apiFaults.ts';
import { createControlPlane } from './controlPlane.ts';
import { ContainerLogs } from './kubelet/containerLogs.ts';
import { Kubelets } from './kubelet/kubelets.ts';
import { metricsApi } from './metrics/metricsApi.ts';
import type { Machine, MachinePace } from './kubelet/machine.ts';
import { bootedMachine, bootProblem } from './kubelet/bootedMachine.ts';
import { installStorageClasses } from './storage/storageClasses.ts';

export interface LocalWorldOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly pace?: Partial<MachinePace>;
  readonly armDurations?: Partial<ArmDurations>;
  readonly location?: string;
  /** Randomness of faults, apart from that of the world, so that a fault does not change anything else. */
  readonly faultRandom?: Random;
  /** Milliseconds between renewals of a node's lease; more makes long simulations cheaper. */
  readonly leasePeriod?: number;
  /** Only the scheduler makes events: long simulations are cheaper without those of kubelets and controllers. */
  readonly quiet?: boolean;
  /** Files that keep the world between processes; a world that is in them goes on. */
  readonly state?: WorldState;
}

export interface WorldState {
  /** The API server's objects. */
  readonly cluster: string;
  /** Azure's resources. */
  readonly azure: string;
  /** The same in every process: it is in the ids of everything. */
  readonly subscriptionId: string;
}

/** One change of the world, as JSON can hold it. */
export type WorldChange =
  | { readonly table: string; readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: unknown }
  | { readonly azure: unknown };

/** Quicker than a real instance: a user is waiting. */
const DEFAULT_PACE: MachinePace = { boot: 5_000, ready: 2_000, podStart: 1_000, podStop: 1_000 };

/** Provisioning states of an instance that is on. */
const RUNNING = new Set(['Succeeded', 'Updating', 'Deleting']);

export class LocalWorld {
  readonly arm: LocalArm;
  /** The faults that are on. */
  readonly faults: Faults;
  private readonly apiServer: LocalApiServer;
  private readonly manager: Manager;
  private readonly kubelets: Kubelets;
  /** Names of the instances that are on. */
  private readonly machines = new Set<string>();

  constructor(options: LocalWorldOptions) {
    const { clock, random, log, location, armDurations } = options;
    const { state } = options;
    this.faults = new Faults({ clock, random: options.faultRandom ?? random });
    const trouble = serverFaults(this.faults);
    // The control plane needs the API, and the API serves the control plane's measurements.
    const aggregated = metricsApi(() => ({ informers: controlPlane.informers, clock, canReport }));
    this.apiServer = new LocalApiServer({
      clock,
      random,
      trouble,
      aggregated,
      kubelets: new ContainerLogs({
        clock,
        canReport: (node) => canReport(node),
        pod: (ref) => controlPlane.pods.store.get(ref),
      }),
      ...(state && { stateFile: state.cluster }),
    });
    const armFaults = new ArmFaults(this.faults, location ?? 'eastus', (size) => this.arm.familyOf(size));
    this.arm = new LocalArm({
      clock,
      random,
      faults: armFaults,
      kubeconfig: (names) => this.apiServer.kubeconfig(names),
      ...(location && { location }),
      ...(armDurations && { durations: armDurations }),
      ...(state && { stateFile: state.azure, subscriptionId: state.subscriptionId }),
    });
    const { kube } = this.apiServer;
    armFaults.follow(this.arm);
    const machineFaults = new MachineFaults({
      faults: this.faults,
      arm: this.arm,
      kube,
      log,
      machines: () => this.machines,
    });
    machineFaults.follow();
    const informers = new Informers({
      kube,
      clock,
      random,
      onError: (error, kind) => log.error('local watch interrupted; trying again', { kind: kind.kind, error }),
    });
    const common = { kube, clock, random, log };
    const { subscriptionId, nodeResourceGroup } = this.arm;
    const canReport = (node: string): boolean => this.machines.has(node) && !machineFaults.isSilent(node);
    const controlPlane = createControlPlane({
      ...common,
      informers,
      resourceGroupId: `/subscriptions/${subscriptionId}/resourceGroups/${nodeResourceGroup}`,
      dataDisks: (size) => this.arm.dataDisks(size),
      canReport,
      quiet: options.quiet === true,
    });
    const { pods } = controlPlane;
    const kubeletsKube = kubeletKube({
      kube,
      isSilent: (node) => machineFaults.isSilent(node),
      pod: (ref) => pods.store.get(ref),
    });
    this.kubelets = new Kubelets({
      ...common,
      kube: kubeletsKube,
      pods,
      pace: { ...DEFAULT_PACE, ...options.pace },
      leasePeriod: options.leasePeriod,
      podsAt: controlPlane.podsAt,
      events: options.quiet === true ? undefined : new KubeEventRecorder({ ...common, component: 'kubelet' }),
      volumesReady: controlPlane.volumesReady,
    });
    this.manager = new Manager({ ...common, informers });
    const cilium = ciliumTaintController({ ...common, pods, nodes: informers.of(Kinds.Node) });
    for (const controller of [...controlPlane.controllers, ...this.kubelets.controllers(), cilium]) {
      this.manager.add(controller);
    }
    this.arm.onVirtualMachine(({ type, vm }) => {
      if (type === 'deleted' || type === 'stopped') return this.powerOff(vm.computerName.toLowerCase());
      const machine = bootedMachine(vm);
      if (!machine) log.info('a VM does not join', { name: vm.name, problem: bootProblem(vm) });
      else if (machineFaults.joins(vm)) this.powerOn(machine);
    });
  }

  /** Boots a machine without a VM, for worlds without a cloud. */
  powerOn(machine: Machine): void {
    this.machines.add(machine.name);
    this.kubelets.powerOn(machine);
  }

  powerOff(name: string): void {
    this.machines.delete(name);
    this.kubelets.powerOff(name);
  }

  /** Forgets the history of the API, as etcd's compaction does: watches that are behind get 410. */
  compact(): void {
    this.apiServer.compact();
  }

  /** The API without a network, for callers in this process. */
  get kube(): Kube {
    return this.apiServer.kube;
  }

  /** Calls the listener with every change of the cluster and of Azure; returns how to stop. */
  onChange(listener: (change: WorldChange) => void): () => void {
    const stops = [
      this.apiServer.onWrite(({ type, object }, table) => listener({ table, type, object })),
      this.arm.onChange((azure) => listener({ azure })),
    ];
    return () => stops.forEach((stop) => stop());
  }

  /** Opens both APIs on loopback. */
  async listen(port: number): Promise<Endpoint> {
    await this.arm.listen();
    return this.apiServer.listen({ port });
  }

  writeKubeconfig(path: string): Promise<void> {
    return this.apiServer.writeKubeconfig(path);
  }

  /** Runs the world until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await installStorageClasses(this.kube);
    await this.resumeMachines();
    return this.manager.run(signal);
  }

  /** Resumes the instances of an earlier process. */
  private async resumeMachines(): Promise<void> {
    const nodes = new Map((await this.kube.list(Kinds.Node)).items.map((node) => [node.metadata.name, node]));
    for (const vm of this.arm.virtualMachines()) {
      const machine = bootedMachine(vm);
      if (!machine || vm.isOff || this.machines.has(machine.name)) continue;
      // A failed instance may have failed to start or to stop: if it has a Node, it runs.
      if (!RUNNING.has(vm.provisioningState) && !nodes.has(machine.name)) continue;
      this.machines.add(machine.name);
      this.kubelets.resume(machine);
    }
    // The process may have died after it deleted an instance and before its Node; AKS removes such Nodes.
    const ours = `azure:///subscriptions/${this.arm.subscriptionId}/`;
    for (const [name, { spec }] of nodes) {
      if (spec?.providerID?.startsWith(ours) && !this.machines.has(name)) this.kubelets.powerOff(name);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.apiServer.close(), this.arm.close()]);
  }
}
