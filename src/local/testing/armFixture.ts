/**
 * A local Azure with the official clients pointed at it, for conformance tests. In: options of the Azure. Out: the
 * Azure, listening, and clients that poll quickly and do not retry by themselves.
 */
import { ComputeManagementClient, type VirtualMachine } from '@azure/arm-compute';
import { ContainerServiceClient } from '@azure/arm-containerservice';
import { NetworkManagementClient, type NetworkInterface } from '@azure/arm-network';
import { ResourceManagementClient } from '@azure/arm-resources';
import { SubscriptionClient } from '@azure/arm-resources-subscriptions';
import { ClientSecretCredential } from '@azure/identity';
import { Agent, request } from 'undici';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import type { LocalCredentials } from '../arm/directory/tokens.ts';
import { LocalArm, type LocalArmOptions } from '../arm/localArm.ts';

/** Long-running operations that take no time worth mentioning. */
const QUICK = {
  networkInterface: 2,
  virtualMachineCreate: 10,
  virtualMachineDelete: 10,
  virtualMachineUpdate: 2,
  virtualMachinePower: 5,
  extension: 2,
  other: 2,
  managedCluster: 5,
  agentPool: 5,
  resourceGroupDelete: 5,
};

export const POLL = { updateIntervalInMs: 2 };

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

export interface Asking {
  readonly method?: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export class ArmFixture {
  readonly arm: LocalArm;
  readonly compute: ComputeManagementClient;
  readonly network: NetworkManagementClient;
  readonly containers: ContainerServiceClient;
  readonly resources: ResourceManagementClient;
  readonly subscriptions: SubscriptionClient;
  private readonly dispatcher: Agent;

  private constructor(arm: LocalArm) {
    this.arm = arm;
    const credential = this.credentialOf(arm.credentials);
    const options = this.clientOptions;
    const { subscriptionId } = arm;
    this.compute = new ComputeManagementClient(credential, subscriptionId, options);
    this.network = new NetworkManagementClient(credential, subscriptionId, options);
    this.containers = new ContainerServiceClient(credential, subscriptionId, options);
    this.resources = new ResourceManagementClient(credential, subscriptionId, options);
    this.subscriptions = new SubscriptionClient(credential, options);
    this.dispatcher = new Agent({ connect: { ca: arm.caPem } });
  }

  static async start(options: Partial<LocalArmOptions> = {}): Promise<ArmFixture> {
    const arm = new LocalArm({
      clock: new SystemClock(),
      random: new SeededRandom(1),
      throttling: 'none',
      ...options,
      durations: { ...QUICK, ...options.durations },
    });
    await arm.listen();
    return new ArmFixture(arm);
  }

  get clientOptions() {
    return { endpoint: this.arm.endpoint, tlsOptions: { ca: this.arm.caPem }, retryOptions: { maxRetries: 0 } };
  }

  get group(): string {
    return this.arm.nodeResourceGroup;
  }

  credentialOf({ tenantId, clientId, clientSecret }: LocalCredentials): ClientSecretCredential {
    return new ClientSecretCredential(tenantId, clientId, clientSecret, {
      authorityHost: this.arm.endpoint,
      disableInstanceDiscovery: true,
      tlsOptions: { ca: this.arm.caPem },
    });
  }

  /** A request without an SDK; below the subscription when the path does not begin with a slash. */
  async ask(path: string, asking: Asking = {}): Promise<Answer> {
    const { method = 'GET', body, headers = {} } = asking;
    const address = path.startsWith('/') ? path : `/subscriptions/${this.arm.subscriptionId}/${path}`;
    const { token } = await this.arm.credential.getToken();
    const response = await request(address.startsWith('https:') ? address : `${this.arm.endpoint}${address}`, {
      method,
      dispatcher: this.dispatcher,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.body.text();
    return {
      status: response.statusCode,
      headers: response.headers,
      body: text === '' ? undefined : (JSON.parse(text) as unknown),
    };
  }

  createInterface(name: string, more: Partial<NetworkInterface> = {}): Promise<NetworkInterface> {
    return this.network.networkInterfaces.beginCreateOrUpdateAndWait(
      this.group,
      name,
      {
        location: this.arm.location,
        tags: { 'karpenter.sh_nodepool': 'default' },
        ipConfigurations: [{ name, primary: true, subnet: { id: this.arm.network.subnetId } }],
        ...more,
      },
      POLL,
    );
  }

  /** The body of a machine on an interface; its disk has the machine's name. */
  machineOn(interfaceId: string, more: Partial<VirtualMachine> = {}): VirtualMachine {
    const name = interfaceId.split('/').at(-1) ?? '';
    return {
      location: this.arm.location,
      zones: ['2'],
      tags: { 'karpenter.sh_nodepool': 'default' },
      hardwareProfile: { vmSize: 'Standard_D2s_v5' },
      storageProfile: {
        imageReference: { communityGalleryImageId: '/CommunityGalleries/g/images/i/versions/1' },
        osDisk: { name, createOption: 'FromImage', deleteOption: 'Delete', diskSizeGB: 128 },
      },
      osProfile: { computerName: name, adminUsername: 'azureuser', customData: btoa('#!/bin/bash\n') },
      networkProfile: { networkInterfaces: [{ id: interfaceId, primary: true, deleteOption: 'Delete' }] },
      ...more,
    };
  }

  /** An interface and a machine of the same name. */
  async createMachine(name: string, more: Partial<VirtualMachine> = {}): Promise<VirtualMachine> {
    const nic = await this.createInterface(name);
    return this.compute.virtualMachines.createOrUpdate(this.group, name, this.machineOn(nic.id ?? '', more), POLL);
  }

  async close(): Promise<void> {
    await this.dispatcher.close();
    await this.arm.close();
  }
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
