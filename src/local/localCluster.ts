/**
 * One cluster of the local AKS: a Kubernetes API, a control plane, and kubelets that start when a VM of the cluster's
 * node resource group is created and end when it is deleted.
 */
import { Kinds } from '../api/kinds.ts';
import type { Clock } from '../clock/clock.ts';
import { Groups, Labels } from '../api/labels.ts';
import { KubeEventRecorder } from '../kube/eventRecorder.ts';
import { Informers } from '../kube/informer.ts';
import type { Kube } from '../kube/kube.ts';
import { Manager } from '../kube/runtime/manager.ts';
import { LocalApiServer, type Endpoint } from './apiserver/localApiServer.ts';
import { textAt } from './apiserver/fields.ts';
import type { KubeconfigNames } from './apiserver/kubeconfig.ts';
import { ciliumTaintController } from './aks/ciliumTaint.ts';
import { isBootstrapToken } from './aks/bootstrapTokens.ts';
import { drainNode } from './aks/drainNode.ts';
import { markNodes, type MarkOptions } from './aks/markNodes.ts';
import type { NodeProvisioningUse } from './arm/containerservice/nodeProvisioning.ts';
import type { LocalArm } from './arm/localArm.ts';
import type { LocalVirtualMachine } from './arm/virtualMachines.ts';
import { kubeletKube, serverFaults } from './faults/apiFaults.ts';
import type { Faults } from './faults/faults.ts';
import { InstanceFaults } from './faults/instanceFaults.ts';
import type { LoopContext } from './controlLoop.ts';
import { createControlPlane } from './controlPlane.ts';
import { containerLogs } from './kubelet/containerLogs.ts';
import { failedPull } from './kubelet/imagePulls.ts';
import { Kubelets } from './kubelet/kubelets.ts';
import { metricsApi } from './metrics/metricsApi.ts';
import type { BootedInstance, InstancePace } from './kubelet/instance.ts';
import { bootInstance, bootProblem } from './kubelet/bootInstance.ts';
import { installStorageClasses } from './storage/storageClasses.ts';

/** Options that all clusters of a world share. */
export interface CommonClusterOptions extends Omit<LoopContext, 'kube'> {
  readonly pace?: Partial<InstancePace>;
  /** Milliseconds between renewals of a node's lease; a longer period makes long simulations cheaper. */
  readonly leasePeriod?: number | undefined;
  /** Only the scheduler records events: long simulations are cheaper without those of kubelets and controllers. */
  readonly quiet?: boolean | undefined;
  /** Whether instances need a valid bootstrap token of their cluster to join; those of AKS's own pools need none. */
  readonly checksTokens?: boolean;
}

export interface LocalClusterOptions extends CommonClusterOptions {
  readonly faults: Faults;
  /** Returns the Azure of the cluster; called once, after the Kubernetes API has been created. */
  readonly arm: () => LocalArm;
  /** Returns the resource group of the cluster's VMs. */
  readonly nodeResourceGroup: (arm: LocalArm) => string;
  /** Returns the Kubernetes version of the control plane. */
  readonly version?: () => string;
  /** File that keeps the API server's objects between processes. */
  readonly stateFile?: string;
}

/** Faster than real instances, because a user is waiting. */
const DEFAULT_PACE: InstancePace = { boot: 5_000, ready: 2_000, podStart: 1_000, podStop: 1_000 };

/** Provisioning states of a running instance. */
const RUNNING = new Set(['Succeeded', 'Updating', 'Deleting']);

export class LocalCluster {
  readonly apiServer: LocalApiServer;
  readonly arm: LocalArm;
  private readonly clock: Clock;
  private readonly nodeResourceGroup: string;
  private readonly manager: Manager;
  private readonly kubelets: Kubelets;
  /** Names of the running instances. */
  private readonly instances = new Set<string>();
  private readonly stops: (() => void)[] = [];

  constructor(options: LocalClusterOptions) {
    const { clock, random, log, faults } = options;
    this.clock = clock;
    // The control plane needs the API, and the API serves the metrics of the control plane.
    const aggregated = metricsApi(() => ({ informers: controlPlane.informers, clock, canReport }));
    this.apiServer = new LocalApiServer({
      clock,
      random,
      trouble: serverFaults(faults),
      aggregated,
      kubelets: containerLogs({
        clock,
        canReport: (node) => canReport(node),
        pod: (ref) => controlPlane.pods.store.get(ref),
      }),
      ...(options.version && { version: options.version }),
      ...(options.stateFile !== undefined && { stateFile: options.stateFile }),
    });
    const arm = options.arm();
    this.arm = arm;
    this.nodeResourceGroup = options.nodeResourceGroup(arm);
    const { kube } = this.apiServer;
    const instanceFaults = new InstanceFaults({ faults, arm, kube, log, instances: () => this.instances });
    this.stops.push(instanceFaults.follow());
    const informers = new Informers({
      kube,
      clock,
      random,
      onError: (error, kind) => log.error('local watch interrupted; trying again', { kind: kind.kind, error }),
    });
    const common = { kube, clock, random, log };
    const canReport = (node: string): boolean => this.instances.has(node) && !instanceFaults.isSilent(node);
    const controlPlane = createControlPlane({
      ...common,
      informers,
      resourceGroupId: `/subscriptions/${arm.subscriptionId}/resourceGroups/${this.nodeResourceGroup}`,
      dataDisks: (size) => arm.dataDisks(size),
      canReport,
      quiet: options.quiet === true,
    });
    const { pods } = controlPlane;
    this.kubelets = new Kubelets({
      ...common,
      kube: kubeletKube(kube, instanceFaults, pods),
      pods,
      pace: { ...DEFAULT_PACE, ...options.pace },
      leasePeriod: options.leasePeriod,
      podsAt: controlPlane.podsAt,
      events: options.quiet === true ? undefined : new KubeEventRecorder({ ...common, component: 'kubelet' }),
      volumesReady: controlPlane.volumesReady,
      failedPull: (pod) => failedPull(arm, pod),
    });
    this.manager = new Manager({ ...common, informers });
    const cilium = ciliumTaintController({ ...common, pods, nodes: informers.of(Kinds.Node) });
    for (const controller of [...controlPlane.controllers, ...this.kubelets.controllers(), cilium]) {
      this.manager.add(controller);
    }
    const follow = arm.onVirtualMachine(({ type, vm }) => {
      if (!this.owns(vm)) return;
      if (type === 'deleted' || type === 'stopped') return this.powerOff(vm.computerName.toLowerCase());
      const instance = bootInstance(vm);
      if (!instance) log.info('a VM does not join', { name: vm.name, problem: bootProblem(vm) });
      else if (options.checksTokens === true && !this.admits(instance))
        log.info('a VM does not join', { name: vm.name, problem: 'its bootstrap token is not one of the cluster' });
      else if (instanceFaults.joins(vm)) this.powerOn(instance);
    });
    const upgrades = arm.onUpgrade(({ nodeResourceGroup }) => {
      if (nodeResourceGroup.toLowerCase() === this.nodeResourceGroup.toLowerCase()) this.apiServer.restart();
    });
    this.stops.push(follow, upgrades);
  }

  /** Boots an instance without a VM, for worlds without a cloud. */
  powerOn(instance: BootedInstance): void {
    this.instances.add(instance.name);
    this.kubelets.powerOn(instance);
  }

  powerOff(name: string): void {
    this.instances.delete(name);
    this.kubelets.powerOff(name);
  }

  /** The API without a network, for callers in this process. */
  get kube(): Kube {
    return this.apiServer.kube;
  }

  /** Opens the Kubernetes API on loopback. */
  listen(port: number): Promise<Endpoint> {
    return this.apiServer.listen({ port });
  }

  kubeconfig(names: KubeconfigNames): string | undefined {
    return this.apiServer.kubeconfig(names);
  }

  /** Drains a node that AKS is about to remove; returns why it could not, if so. */
  drain(node: string): Promise<string | undefined> {
    return drainNode(this.kube, this.clock, node);
  }

  /** Writes the labels and taints of an agent pool to its nodes. */
  mark(pool: string, change: Pick<MarkOptions, 'before' | 'after'>): Promise<void> {
    return markNodes({ kube: this.kube, pool, ...change });
  }

  /** Returns the nodes and the usable pools of node auto-provisioning. */
  provisioningUse(): NodeProvisioningUse {
    const nodes = this.apiServer.peek('', 'nodes').filter(({ metadata }) => metadata.labels?.[Labels.nodePool]);
    const pools = this.apiServer.peek(Groups.karpenter, 'nodepools');
    return {
      nodes: nodes.map(({ metadata }) => metadata.name),
      openPools: pools.filter((pool) => !isClosed(pool)).map(({ metadata }) => metadata.name),
    };
  }

  /** Runs the cluster until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await installStorageClasses(this.kube);
    await this.resumeInstances();
    return this.manager.run(signal);
  }

  async close(): Promise<void> {
    for (const stop of this.stops.splice(0)) stop();
    await this.apiServer.close();
  }

  /** Whether the API server would accept the bootstrap token of an instance. */
  private admits({ bootstrapToken }: BootedInstance): boolean {
    return isBootstrapToken(this.apiServer.peek('', 'secrets'), bootstrapToken ?? '', this.clock.now());
  }

  private owns({ resourceGroup }: LocalVirtualMachine): boolean {
    return resourceGroup.toLowerCase() === this.nodeResourceGroup.toLowerCase();
  }

  /** Resumes the instances of an earlier process, and those created before the cluster ran. */
  private async resumeInstances(): Promise<void> {
    const nodes = new Map((await this.kube.list(Kinds.Node)).items.map((node) => [node.metadata.name, node]));
    for (const vm of this.arm.virtualMachines()) {
      if (!this.owns(vm)) continue;
      const instance = bootInstance(vm);
      if (!instance || vm.isOff || this.instances.has(instance.name)) continue;
      // The failed operation may have been the start or the stop: an instance with a Node runs.
      if (!RUNNING.has(vm.provisioningState) && !nodes.has(instance.name)) continue;
      this.instances.add(instance.name);
      this.kubelets.resume(instance);
    }
    // The earlier process may have ended between deleting an instance and its Node; AKS removes such Nodes.
    const ours = `azure:///subscriptions/${this.arm.subscriptionId}/`;
    for (const [name, { spec }] of nodes) {
      if (spec?.providerID?.startsWith(ours) && !this.instances.has(name)) this.kubelets.powerOff(name);
    }
  }
}

/** Whether a NodePool can have no node: `spec.limits.cpu` is 0. */
function isClosed(pool: unknown): boolean {
  const cpu = textAt(pool, 'spec', 'limits', 'cpu');
  return cpu !== undefined && Number.parseFloat(cpu) === 0;
}
