/** A local Azure for the official SDKs: an HTTPS endpoint on loopback with its own token endpoint. */
import { InvariantError } from '../../errors/invariantError.ts';
import { SeededRandom } from '../../clock/seededRandom.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { estimatedSpotPrice } from '../../catalogue/bundledCatalogue.ts';
import { SkuCatalogue } from '../../catalogue/skuCatalogue.ts';
import { createCertificateAuthority, issueServerCertificate, type CertificateAuthority } from '../certificates.ts';
import type { ArmContext, ArmDurations } from './armContext.ts';
import { createServices, type Services, type ServicesOptions } from './services.ts';
import { managedClusterOf, type ClusterName, type ManagedCluster } from './containerservice/managedCluster.ts';
import { MAINTENANCE_KIND } from './containerservice/maintenanceConfigurations.ts';
import { AGENT_POOLS, MANAGED_CLUSTERS } from './containerservice/managedClusters.ts';
import type { SkuRestriction } from './compute/skus.ts';
import type { RoleAssignment } from './directory/principals.ts';
import { pullRight } from './directory/registries.ts';
import type { FederatedCredential, LocalCredentials } from './directory/tokens.ts';
import { NO_FAULTS } from './faultPlan.ts';
import { objectAt, textAt, type JsonObject } from './jsonPath.ts';
import type { ClusterNetwork } from './network/clusterNetwork.ts';
import { Operations } from './operations.ts';
import { normalLocation } from './resources/requestRules.ts';
import { finishHalfDone } from './halfDone.ts';
import { keepResources } from './resourceJournal.ts';
import { ResourceStore, type StoreChange } from './resourceStore.ts';
import { ArmFront, type WireRequest, type WireResponse } from './server/armFront.ts';
import { ArmServer } from './server/armServer.ts';
import { Gate } from './server/gate.ts';
import { AZURE_LIMITS, Throttling, type ThrottleLimits } from './server/throttling.ts';
import type { LocalVirtualMachine, VirtualMachineEvent } from './virtualMachines.ts';

/**
 * The callbacks into clusters are optional. Without them, credentials cannot be listed, the use of node
 * auto-provisioning is unknown, nodes are not drained, and changed labels and taints of a pool reach only new nodes.
 */
export interface LocalArmOptions extends Partial<Omit<ServicesOptions, 'context' | 'credentials'>> {
  readonly clock: Clock;
  readonly random: Random;
  /** A region of the bundled price list. */
  readonly location?: string;
  readonly subscriptionId?: string;
  /** The group that holds the cluster's VMs. */
  readonly nodeResourceGroup?: string;
  /** Resource group and name of the initial cluster. */
  readonly cluster?: ClusterName;
  readonly durations?: Partial<ArmDurations>;
  /** Rate limits per principal: Azure's by default, `none` for no limit. */
  readonly throttling?: ThrottleLimits | 'none';
  /** Maximum number of items on one page of a list. */
  readonly pageSize?: number;
  /** File that keeps the subscription's resources between processes; by default they are not kept. */
  readonly stateFile?: string;
  /** Signs the server's certificate; by default a new authority. */
  readonly authority?: CertificateAuthority;
}

const DEFAULT_DURATIONS: ArmDurations = {
  networkInterface: 500,
  virtualMachineCreate: 8000,
  virtualMachineDelete: 5000,
  virtualMachineUpdate: 1000,
  virtualMachinePower: 3000,
  extension: 1000,
  other: 500,
  managedCluster: 10_000,
  agentPool: 5000,
  resourceGroupDelete: 5000,
  interfaceReservation: 180_000,
};
const DEFAULT_PAGE = 200;
/** A name that never resolves, so that no request can leave the process by mistake. */
const IN_PROCESS = 'https://management.invalid';

export class LocalArm {
  readonly location: string;
  readonly subscriptionId: string;
  readonly nodeResourceGroup: string;
  readonly cluster: ClusterName;
  readonly network: ClusterNetwork;
  readonly credentials: LocalCredentials;
  private readonly options: LocalArmOptions;
  private readonly context: ArmContext;
  private readonly services: Services;
  private readonly front: ArmFront;
  private readonly server: ArmServer;
  /** Closes the journal of resources. */
  private readonly endJournal: (() => void) | undefined;
  private address: { readonly endpoint: string; readonly caPem: string } | undefined;

  constructor(options: LocalArmOptions) {
    this.options = options;
    const { clock, random } = options;
    this.location = options.location ?? 'eastus';
    this.subscriptionId = options.subscriptionId ?? random.uuid();
    this.cluster = options.cluster ?? { resourceGroup: 'local', name: 'local' };
    this.nodeResourceGroup =
      options.nodeResourceGroup ?? `MC_${this.cluster.resourceGroup}_${this.cluster.name}_${this.location}`;
    this.credentials = { tenantId: random.uuid(), clientId: random.uuid(), clientSecret: random.uuid() };
    const catalogueAt = rememberCatalogues();
    this.context = {
      clock,
      random,
      store: new ResourceStore(this.subscriptionId),
      operations: new Operations(clock, random),
      catalogue: catalogueAt(this.location),
      catalogueAt: (location) => catalogueAt(location ?? this.location),
      location: this.location,
      durations: { ...DEFAULT_DURATIONS, ...options.durations },
      pageSize: options.pageSize ?? DEFAULT_PAGE,
      endpoint: () => this.endpoint,
    };
    const faults = options.faults ?? NO_FAULTS;
    this.services = createServices({
      context: this.context,
      credentials: this.credentials,
      faults,
      quota: options.quota ?? {},
      restrictions: options.restrictions ?? [],
      provisioningUse: (cluster) => options.provisioningUse?.(cluster),
      drainNode: async (cluster, node) => options.drainNode?.(cluster, node),
      markNodes: async (cluster, pool, change) => options.markNodes?.(cluster, pool, change),
      tokenClock: options.tokenClock ?? clock,
      kubeconfig: (cluster, names) => options.kubeconfig?.(cluster, names),
    });
    const { store } = this.context;
    if (options.stateFile !== undefined) this.endJournal = keepResources(options.stateFile, store);
    this.network = this.services.addCluster(this.cluster, this.nodeResourceGroup);
    this.services.resume();
    finishHalfDone(this.context, this.services.resumedTypes);
    const { tokens, images, router } = this.services;
    const limits = options.throttling ?? AZURE_LIMITS;
    this.front = new ArmFront({
      clock,
      random: new SeededRandom(Math.floor(random.next() * 2 ** 31)),
      faults,
      location: this.location,
      router,
      gate: new Gate({
        tokens,
        store,
        throttling: limits === 'none' ? undefined : new Throttling(clock, limits),
        sharedSubscriptions: [images.sharedSubscription],
      }),
    });
    this.server = new ArmServer(this.front);
  }

  /** Answers a request in this process as if it had come over the network. */
  handle(request: WireRequest): Promise<WireResponse> {
    return this.front.handle(request);
  }

  /** Starts the server; port 0 takes a free port. */
  async listen(options: { readonly port?: number } = {}): Promise<void> {
    const now = this.options.clock.now();
    const authority = this.options.authority ?? (await createCertificateAuthority({ now }));
    const certificate = await issueServerCertificate(authority, ['localhost', '127.0.0.1'], { now });
    const port = await this.server.listen(certificate, options.port ?? 0);
    this.address = { endpoint: `https://127.0.0.1:${port}`, caPem: authority.certificate };
  }

  /** Stops the server and cancels all operations under way. */
  async close(): Promise<void> {
    this.context.operations.close();
    this.services.close();
    this.endJournal?.();
    await this.server.close();
  }

  /** The URL of the server; before `listen` a placeholder, which is enough for `handle`. */
  get endpoint(): string {
    return this.address?.endpoint ?? IN_PROCESS;
  }

  /** The CA certificate that clients must trust. */
  get caPem(): string {
    if (this.address === undefined)
      throw new InvariantError('LocalArm has no certificate before listen() has returned.');
    return this.address.caPem;
  }

  /** A TokenCredential for clients in this process. Other clients sign in at the token endpoint with `credentials`. */
  get credential(): { getToken(): Promise<{ token: string; expiresOnTimestamp: number }> } {
    const { tokens, owner } = this.services;
    return { getToken: async () => ({ token: tokens.endless(owner), expiresOnTimestamp: Number.MAX_SAFE_INTEGER }) };
  }

  /** Returns the base URL of a VM's metadata service, with `/metadata/…` below it. The URL is a secret. */
  metadataEndpoint(machine: string): string {
    return `${this.endpoint}/imds/${machine}/${this.services.tokens.metadataKey(machine)}`;
  }

  /** Adds a client that has only these roles, and returns its credentials. */
  addPrincipal(assignments: readonly RoleAssignment[]): LocalCredentials {
    const { random } = this.options;
    const principal = { clientId: random.uuid(), objectId: random.uuid(), clientSecret: random.uuid(), assignments };
    this.services.principals.add(principal);
    return { tenantId: this.credentials.tenantId, clientId: principal.clientId, clientSecret: principal.clientSecret };
  }

  /** Accepts tokens of another issuer, such as a cluster, in place of a client's secret: workload identity. */
  federate(credential: FederatedCredential): void {
    this.services.tokens.federate(credential);
  }

  /** Adds an agent pool to the cluster, as `az aks nodepool add` would; an existing pool gets these properties. */
  addAgentPool(name: string, properties: JsonObject): void {
    this.services.addPool(this.cluster, name, properties);
  }

  /** Calls the listener with every event of a VM from now on; returns a function that ends the subscription. */
  onVirtualMachine(listener: (event: VirtualMachineEvent) => void): () => void {
    return this.services.machines.onEvent(listener);
  }

  /** Returns the clusters of the subscription. */
  managedClusters(): readonly ManagedCluster[] {
    return this.context.store.list(MANAGED_CLUSTERS).map(managedClusterOf);
  }

  managedCluster({ resourceGroup, name }: ClusterName): ManagedCluster | undefined {
    const found = this.context.store.findIn(resourceGroup, MANAGED_CLUSTERS, name);
    return found && managedClusterOf(found);
  }

  /** Whether the cluster has a system pool, on which AKS's own pods run. */
  hasSystemPool({ resourceGroup, name }: ClusterName): boolean {
    const { store } = this.context;
    const pools = store.children(store.findIn(resourceGroup, MANAGED_CLUSTERS, name)?.id ?? '', AGENT_POOLS);
    return pools.some(({ properties }) => textAt(properties, 'mode') === 'System');
  }

  /** Returns the window of a maintenance configuration of a cluster; undefined when none has that name. */
  maintenanceWindow({ resourceGroup, name }: ClusterName, configuration: string): JsonObject | undefined {
    const found = this.context.store.findIn(resourceGroup, MAINTENANCE_KIND.type, name, configuration);
    return found && objectAt(found.properties, 'maintenanceWindow');
  }

  /** Upgrades the control plane and the agent pools of a cluster, as AKS does by itself. */
  upgradeCluster(cluster: ClusterName, version: string): void {
    this.services.upgradeCluster(cluster, version);
  }

  /** Returns the network of a cluster's nodes. */
  networkOf({ nodeResourceGroup }: ManagedCluster): ClusterNetwork {
    return this.services.networkOf(nodeResourceGroup);
  }

  /** Calls the listener with every cluster that is created, changed or deleted; returns a function that ends it. */
  onManagedCluster(listener: (cluster: ManagedCluster, isGone: boolean) => void): () => void {
    return this.context.store.onChange((before, after) => {
      const cluster = after ?? before;
      if (cluster?.type === MANAGED_CLUSTERS) listener(managedClusterOf(cluster), after === undefined);
    });
  }

  /** Calls the listener with every cluster whose control plane changed its version; returns a function that ends it. */
  onUpgrade(listener: (cluster: ManagedCluster) => void): () => void {
    return this.context.store.onChange((before, after) => {
      if (after?.type !== MANAGED_CLUSTERS || before === undefined) return;
      const cluster = managedClusterOf(after);
      if (managedClusterOf(before).kubernetesVersion !== cluster.kubernetesVersion) listener(cluster);
    });
  }

  /** Calls the listener with every change of a resource; returns a function that ends the subscription. */
  onChange(listener: (change: StoreChange) => void): () => void {
    return this.context.store.subscribe(listener);
  }

  /** Returns all VMs, in any state. */
  virtualMachines(): readonly LocalVirtualMachine[] {
    return this.services.machines.all();
  }

  /** Returns the VM of that name; undefined when there is none. */
  virtualMachine(name: string): LocalVirtualMachine | undefined {
    const { machines } = this.services;
    const found = machines.byName(name);
    return found && machines.describe(found);
  }

  /** Whether a VM may pull from a registry as `clientId`; `elsewhere` for a registry that is not in this Azure. */
  pullRight(vmName: string, host: string, clientId: string): 'granted' | 'denied' | 'elsewhere' {
    const { machines, principals } = this.services;
    const machine = machines.byName(vmName);
    return machine === undefined ? 'denied' : pullRight(this.context, principals, machine, host, clientId);
  }

  /** Sets a quota: a family's name, `cores` for the region, `lowPriorityCores` for spot; undefined restores it. */
  setQuota(counter: string, limit: number | undefined): void {
    this.services.usages.setLimit(counter, limit);
  }

  /** Restricts a size, everywhere or in some zones; returns a function that lifts the restriction. */
  restrict(restriction: SkuRestriction): () => void {
    this.services.skus.restrict(restriction);
    return () => this.services.skus.unrestrict(restriction.size);
  }

  /**
   * Evicts a VM as Azure does with spot VMs, announced by a scheduled event when `notice`, in milliseconds, is given.
   * Returns false when no VM has that name.
   */
  preempt(name: string, notice = 0): boolean {
    const { machines, events } = this.services;
    const machine = machines.byName(name);
    if (machine === undefined) return false;
    if (notice > 0) events.schedule(machine.name, 'Preempt', notice, () => machines.evict(machine));
    else machines.evict(machine);
    return true;
  }

  /** Returns the quota family of a size; undefined for a size that is not sold here. */
  familyOf(size: string): string | undefined {
    return this.context.catalogue.find(size)?.sku.family;
  }

  /** Returns the price of a size in US dollars per hour; undefined for a size that is not sold here. */
  price(size: string, isSpot: boolean): number | undefined {
    const price = this.context.catalogue.find(size)?.price;
    return price === undefined || !isSpot ? price : estimatedSpotPrice(price);
  }

  /** Returns the maximum number of data disks of a size; undefined for a size that is not sold here. */
  dataDisks(size: string): number | undefined {
    const capabilities = this.context.catalogue.find(size)?.sku.capabilities;
    const count = capabilities?.find(({ name }) => name === 'MaxDataDiskCount')?.value;
    return count === undefined ? undefined : Number(count);
  }
}

/** Returns a function that makes the catalogue of a region on first use. */
function rememberCatalogues(): (location: string) => SkuCatalogue {
  const known = new Map<string, SkuCatalogue>();
  return (location) => {
    const name = normalLocation(location);
    const found = known.get(name) ?? new SkuCatalogue(name);
    known.set(name, found);
    return found;
  };
}
