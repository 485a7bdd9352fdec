/** Network of a node: the body of its interface, and the subnets, load balancers and security groups it refers to. */
import { NodewrightError } from '../errors/nodewrightError.ts';
import type { NetworkInterface, NetworkManagementClient } from '@azure/arm-network';
import type { Clock } from '../clock/clock.ts';
import type { ClusterNetworking } from '../catalogue/nodeSettings.ts';

export interface SubnetId {
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  readonly virtualNetwork: string;
  readonly subnet: string;
}

const SUBNET_ID =
  /^\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)\/providers\/Microsoft\.Network\/virtualNetworks\/([^/]+)\/subnets\/([^/]+)$/i;
const SECURITY_GROUP = /^aks-agentpool-(\d{8})-nsg$/i;
const BALANCERS: ReadonlySet<string> = new Set(['kubernetes', 'kubernetes-internal']);
/** IPv6 pools, which nodes do not join. */
const SKIPPED_POOLS: ReadonlySet<string> = new Set(['aksoutboundbackendpool-ipv6', 'kubernetes-ipv6']);
const POOLS_KEPT_FOR = 2 * 60 * 60 * 1000;

export function parseSubnetId(id: string): SubnetId | undefined {
  const match = SUBNET_ID.exec(id);
  if (match === null) return undefined;
  const [, subscriptionId = '', resourceGroup = '', virtualNetwork = '', subnet = ''] = match;
  return { subscriptionId, resourceGroup, virtualNetwork, subnet };
}

/** Whether AKS created the network; then the security group is already on its subnet. */
export function isManagedNetwork(id: SubnetId, nodeResourceGroup: string): boolean {
  return (
    /^aks-vnet-\d{8}$/i.test(id.virtualNetwork) &&
    id.resourceGroup.toLowerCase() === nodeResourceGroup.toLowerCase() &&
    id.subnet.toLowerCase() === 'aks-subnet'
  );
}

export interface SecurityGroup {
  readonly id: string;
  readonly name: string;
  /** Eight digits at the end of the names of the cluster's resources. */
  readonly clusterId: string;
}

export class ClusterNetwork {
  private readonly client: NetworkManagementClient;
  private readonly nodeResourceGroup: string;
  private readonly clock: Clock;
  private group: SecurityGroup | undefined;
  private pools: { readonly ids: readonly string[]; readonly until: number } | undefined;

  constructor(client: NetworkManagementClient, nodeResourceGroup: string, clock: Clock) {
    this.client = client;
    this.nodeResourceGroup = nodeResourceGroup;
    this.clock = clock;
  }

  /** The cluster's security group. It never changes, so it is read once. */
  async securityGroup(signal?: AbortSignal): Promise<SecurityGroup> {
    if (this.group !== undefined) return this.group;
    const found: SecurityGroup[] = [];
    for await (const { id, name } of this.client.networkSecurityGroups.list(this.nodeResourceGroup, abort(signal))) {
      const clusterId = SECURITY_GROUP.exec(name ?? '')?.[1];
      if (id !== undefined && name !== undefined && clusterId !== undefined) found.push({ id, name, clusterId });
    }
    const [only] = found;
    if (only === undefined || found.length > 1) {
      throw new NodewrightError('SecurityGroupUnclear', { resourceGroup: this.nodeResourceGroup, found: found.length });
    }
    this.group = only;
    return only;
  }

  /** The backend pools that nodes join to receive traffic of services. */
  async backendPools(signal?: AbortSignal): Promise<readonly string[]> {
    if (this.pools !== undefined && this.pools.until > this.clock.now()) return this.pools.ids;
    const ids: string[] = [];
    for await (const balancer of this.client.loadBalancers.list(this.nodeResourceGroup, abort(signal))) {
      if (!BALANCERS.has(balancer.name?.toLowerCase() ?? '')) continue;
      for (const pool of balancer.backendAddressPools ?? []) {
        // Pools that list addresses are managed by address, not by interface.
        const byAddress =
          pool.loadBalancerBackendAddresses?.some((address) => address.ipAddress !== undefined) ?? false;
        if (pool.id === undefined || byAddress || SKIPPED_POOLS.has(pool.name?.toLowerCase() ?? '')) continue;
        ids.push(pool.id);
      }
    }
    this.pools = { ids, until: this.clock.now() + POOLS_KEPT_FOR };
    return ids;
  }

  /** Drops the cache: the pools may have changed. */
  forgetBackendPools(): void {
    this.pools = undefined;
  }
}

export interface InterfaceWish {
  readonly name: string;
  readonly location: string;
  readonly subnetId: string;
  readonly securityGroupId: string | undefined;
  readonly backendPools: readonly string[];
  readonly acceleratedNetworking: boolean;
  readonly maxPods: number;
  readonly networking: ClusterNetworking;
  readonly tags: Readonly<Record<string, string>>;
}

export function networkInterfaceOf(wish: InterfaceWish): NetworkInterface {
  const subnet = { id: wish.subnetId };
  const base = { privateIPAllocationMethod: 'Dynamic', subnet };
  const { networkPlugin, networkPluginMode } = wish.networking;
  // Without an overlay every pod has an address of the subnet, and all are on the interface.
  const podAddresses = networkPlugin === 'azure' && networkPluginMode !== 'overlay' ? wish.maxPods - 1 : 0;
  return {
    location: wish.location,
    tags: { ...wish.tags },
    enableAcceleratedNetworking: wish.acceleratedNetworking,
    enableIPForwarding: false,
    ...(wish.securityGroupId === undefined ? {} : { networkSecurityGroup: { id: wish.securityGroupId } }),
    ipConfigurations: [
      {
        name: wish.name,
        ...base,
        primary: true,
        loadBalancerBackendAddressPools: wish.backendPools.map((id) => ({ id })),
      },
      ...Array.from({ length: podAddresses }, (_, index) => ({
        name: `ipconfig${index + 1}`,
        ...base,
        primary: false,
      })),
    ],
  };
}

function abort(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal === undefined ? {} : { abortSignal: signal };
}
