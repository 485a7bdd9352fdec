/**
 * An Azure that the Azure SDK believes, in this process. In: a clock, randomness, names. Out: an HTTPS endpoint on
 * loopback with its own token endpoint, and a feed of machines for whoever plays the computers inside them.
 */
import type { Random } from '../../clock/random.ts';
import { createCertificateAuthority, issueServerCertificate, type CertificateAuthority } from '../certificates.ts';
import type { ArmContext, ArmDurations } from './armContext.ts';
import { ArmServer, type YieldingClock } from './armServer.ts';
import { directoryRoutes } from './directory.ts';
import { NO_FAULTS, type FaultPlan } from './faultPlan.ts';
import { finishHalfDone } from './halfDone.ts';
import { NETWORK_INTERFACES, NetworkInterfaces } from './networkInterfaces.ts';
import { Networks, type ClusterNetwork } from './networks.ts';
import { Operations } from './operations.ts';
import { platformRoutes } from './platform.ts';
import { ResourceGraph } from './resourceGraph.ts';
import { ResourceStore } from './resourceStore.ts';
import { RetailPrices } from './retailPrices.ts';
import { ResourceJournal } from './resourceJournal.ts';
import { Router } from './router.ts';
import { SkuCatalogue } from '../../catalogue/skuCatalogue.ts';
import { Tokens, type LocalCredentials } from './tokens.ts';
import { Usages, type QuotaLimits } from './usages.ts';
import { extensionRoutes } from './virtualMachineExtensions.ts';
import {
  VIRTUAL_MACHINES,
  VirtualMachines,
  type LocalVirtualMachine,
  type VirtualMachineEvent,
} from './virtualMachines.ts';

export interface LocalArmOptions {
  readonly clock: YieldingClock;
  readonly random: Random;
  /** A region that the bundled price list knows. */
  readonly location?: string;
  readonly subscriptionId?: string;
  /** The group that holds the cluster's machines. */
  readonly nodeResourceGroup?: string;
  readonly durations?: Partial<ArmDurations>;
  /** Limits in vCPUs, where they differ from generous ones. */
  readonly quota?: QuotaLimits;
  readonly faults?: FaultPlan;
  /** Where the subscription's resources are kept between processes; nowhere unless given. */
  readonly stateFile?: string;
  /** Signs the server's certificate; made on the spot when absent. */
  readonly authority?: CertificateAuthority;
}

const DEFAULT_DURATIONS: ArmDurations = {
  networkInterface: 500,
  virtualMachineCreate: 8000,
  virtualMachineDelete: 5000,
  extension: 1000,
};
/** AKS ends the names of a cluster's resources with a number of eight digits. */
const CLUSTER_ID = '10000000';

export class LocalArm {
  readonly location: string;
  readonly subscriptionId: string;
  readonly nodeResourceGroup: string;
  readonly network: ClusterNetwork;
  readonly credentials: LocalCredentials;
  private readonly options: LocalArmOptions;
  private readonly operations: Operations;
  private readonly machines: VirtualMachines;
  private readonly usages: Usages;
  private readonly tokens: Tokens;
  private readonly catalogue: SkuCatalogue;
  private readonly server: ArmServer;
  private readonly journal: ResourceJournal | undefined;
  private address: { readonly endpoint: string; readonly caPem: string } | undefined;

  constructor(options: LocalArmOptions) {
    this.options = options;
    const { clock, random } = options;
    this.location = options.location ?? 'eastus';
    this.subscriptionId = options.subscriptionId ?? random.uuid();
    this.nodeResourceGroup = options.nodeResourceGroup ?? `MC_local_local_${this.location}`;
    this.credentials = { tenantId: random.uuid(), clientId: random.uuid(), clientSecret: random.uuid() };
    this.operations = new Operations(clock, random);
    const store = new ResourceStore(this.subscriptionId);
    this.catalogue = new SkuCatalogue(this.location);
    const context: ArmContext = {
      clock,
      random,
      store,
      operations: this.operations,
      catalogue: this.catalogue,
      location: this.location,
      durations: { ...DEFAULT_DURATIONS, ...options.durations },
      endpoint: () => this.endpoint,
    };
    store.addGroup(this.nodeResourceGroup);
    const networks = new Networks(context);
    this.network = networks.addCluster(this.nodeResourceGroup, CLUSTER_ID);
    // What was laid out above is there again, and what an earlier process has changed of it is put over it.
    if (options.stateFile !== undefined) this.journal = new ResourceJournal(options.stateFile, store);
    const interfaces = new NetworkInterfaces(context, networks);
    this.usages = new Usages(context, options.quota);
    const { usages } = this;
    this.machines = new VirtualMachines(context, interfaces, usages);
    interfaces.resume();
    this.machines.resume();
    finishHalfDone(context, new Set([NETWORK_INTERFACES, VIRTUAL_MACHINES]));
    const tokens = new Tokens(clock, this.credentials);
    this.tokens = tokens;
    const graph = new ResourceGraph(context, [VIRTUAL_MACHINES, NETWORK_INTERFACES]);
    this.server = new ArmServer({
      clock,
      random,
      tokens,
      faults: options.faults ?? NO_FAULTS,
      subscriptionId: this.subscriptionId,
      router: new Router([
        ...platformRoutes(context, this.credentials.tenantId),
        ...networks.routes(),
        ...interfaces.routes(),
        ...usages.routes(),
        ...this.machines.routes(),
        ...extensionRoutes(context),
        ...graph.routes(),
        ...directoryRoutes(tokens, new RetailPrices(), () => this.endpoint),
      ]),
    });
  }

  /** Port 0 takes a free one. */
  async listen(options: { readonly port?: number } = {}): Promise<void> {
    const now = this.options.clock.now();
    const authority = this.options.authority ?? (await createCertificateAuthority({ now }));
    const certificate = await issueServerCertificate(authority, ['localhost', '127.0.0.1'], { now });
    const port = await this.server.listen(certificate, options.port ?? 0);
    this.address = { endpoint: `https://127.0.0.1:${port}`, caPem: authority.certificate };
  }

  /** Stops answering, and drops whatever was under way. */
  async close(): Promise<void> {
    this.operations.close();
    this.journal?.close();
    await this.server.close();
  }

  get endpoint(): string {
    return this.started().endpoint;
  }

  /** The certificate that clients must trust. */
  get caPem(): string {
    return this.started().caPem;
  }

  /** A TokenCredential for clients in this process. Others get theirs with `credentials` from the token endpoint. */
  get credential(): { getToken(): Promise<{ token: string; expiresOnTimestamp: number }> } {
    return { getToken: async () => ({ token: this.tokens.endless(), expiresOnTimestamp: Number.MAX_SAFE_INTEGER }) };
  }

  /** Tells of machines from now on; returns a function that ends it. */
  onVirtualMachine(listener: (event: VirtualMachineEvent) => void): () => void {
    return this.machines.onEvent(listener);
  }

  /** The machines that exist now, whatever their state. */
  virtualMachines(): readonly LocalVirtualMachine[] {
    return this.machines.all();
  }

  /** Changes a quota: a family's name, `cores` for the region, `lowPriorityCores` for spot; undefined restores it. */
  setQuota(counter: string, limit: number | undefined): void {
    this.usages.setLimit(counter, limit);
  }

  /** Takes a machine back as Azure does with spot capacity; false when there is none of that name. */
  preempt(name: string): boolean {
    return this.machines.preempt(name);
  }

  /** What a size is: its quota family, its price per hour. */
  size(name: string): { readonly family: string; readonly price: number } | undefined {
    const found = this.catalogue.find(name);
    return found && { family: found.sku.family, price: found.price };
  }

  /** Data disks that machines of a size take; undefined for a size that is not sold here. */
  dataDisks(size: string): number | undefined {
    const capabilities = this.catalogue.find(size)?.sku.capabilities;
    const count = capabilities?.find(({ name }) => name === 'MaxDataDiskCount')?.value;
    return count === undefined ? undefined : Number(count);
  }

  private started(): { readonly endpoint: string; readonly caPem: string } {
    if (this.address === undefined) throw new Error('LocalArm has no address before listen() has returned.');
    return this.address;
  }
}
