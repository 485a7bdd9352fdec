/**
 * Virtual networks, subnets, security groups and load balancers: what AKS lays out for a cluster. In: names. Out: the
 * resources, addresses drawn from subnets, and the routes that read them.
 */
import { ArmError } from './armError.ts';
import { listed, type ArmContext } from './armContext.ts';
import { listAt, textAt } from './jsonPath.ts';
import type { ArmResource } from './resourceStore.ts';
import type { Route } from './router.ts';

const NAMESPACE = 'Microsoft.Network';
const VIRTUAL_NETWORKS = 'Microsoft.Network/virtualNetworks';
const SUBNETS = 'Microsoft.Network/virtualNetworks/subnets';
const SECURITY_GROUPS = 'Microsoft.Network/networkSecurityGroups';
const LOAD_BALANCERS = 'Microsoft.Network/loadBalancers';
const BACKEND_POOLS = 'Microsoft.Network/loadBalancers/backendAddressPools';
/** The network, the gateway, two for DNS at the start, and the broadcast address at the end. */
const RESERVED_AT_START = 4;
const RESERVED_AT_END = 1;

export interface ClusterNetwork {
  readonly virtualNetworkId: string;
  readonly subnetId: string;
}

export class Networks {
  private readonly context: ArmContext;
  /** By lower-case subnet id: the offsets in use, and where the search for a free one goes on. */
  private readonly addresses = new Map<string, { readonly used: Set<number>; next: number }>();

  constructor(context: ArmContext) {
    this.context = context;
  }

  /** The network of a new AKS cluster that brought none of its own. `clusterId` is the eight-digit suffix. */
  addCluster(group: string, clusterId: string): ClusterNetwork {
    const { store } = this.context;
    const network = `aks-vnet-${clusterId}`;
    const subnet = this.resource(group, SUBNETS, [network, 'aks-subnet'], {
      addressPrefix: '10.224.0.0/16',
      provisioningState: 'Succeeded',
    });
    const virtualNetwork = this.resource(group, VIRTUAL_NETWORKS, [network], {
      resourceGuid: this.context.random.uuid(),
      addressSpace: { addressPrefixes: ['10.224.0.0/12'] },
      subnets: [subnet],
      provisioningState: 'Succeeded',
    });
    const pools = ['kubernetes', 'aksOutboundBackendPool'].map((pool) =>
      this.resource(group, BACKEND_POOLS, ['kubernetes', pool], { provisioningState: 'Succeeded' }),
    );
    const balancer = this.resource(group, LOAD_BALANCERS, ['kubernetes'], {
      backendAddressPools: pools,
      provisioningState: 'Succeeded',
    });
    const securityGroup = this.resource(group, SECURITY_GROUPS, [`aks-agentpool-${clusterId}-nsg`], {
      resourceGuid: this.context.random.uuid(),
      securityRules: [],
      provisioningState: 'Succeeded',
    });
    for (const resource of [subnet, virtualNetwork, ...pools, balancer, securityGroup]) store.put(resource);
    return { virtualNetworkId: virtualNetwork.id, subnetId: subnet.id };
  }

  /** The next free address of the subnet. */
  allocate(subnet: ArmResource): string {
    const { base, size } = parsePrefix(textAt(subnet.properties, 'addressPrefix') ?? '');
    const state = this.addressesOf(subnet.id);
    const free = size - RESERVED_AT_START - RESERVED_AT_END;
    if (state.used.size >= free) {
      throw new ArmError(
        400,
        'SubnetIsFull',
        `Subnet ${subnet.name} with address prefix ${textAt(subnet.properties, 'addressPrefix') ?? ''} does not have enough capacity for the addresses asked for.`,
      );
    }
    while (state.used.has(state.next)) state.next = this.following(state.next, size);
    const offset = state.next;
    state.used.add(offset);
    state.next = this.following(offset, size);
    return dotted(base + offset);
  }

  /** Takes an address that an earlier process has given. */
  occupy(subnetId: string, address: string): void {
    const subnet = this.context.store.find(subnetId);
    if (subnet === undefined) return;
    const { base } = parsePrefix(textAt(subnet.properties, 'addressPrefix') ?? '');
    this.addressesOf(subnetId).used.add(numeric(address) - base);
  }

  release(subnetId: string, address: string): void {
    const subnet = this.context.store.find(subnetId);
    const state = this.addresses.get(subnetId.toLowerCase());
    if (subnet === undefined || state === undefined) return;
    state.used.delete(numeric(address) - parsePrefix(textAt(subnet.properties, 'addressPrefix') ?? '').base);
  }

  routes(): readonly Route[] {
    const { store } = this.context;
    const group = `/subscriptions/{subscription}/resourceGroups/{group}/providers/${NAMESPACE}`;
    return [
      {
        name: 'virtualNetworks.get',
        method: 'GET',
        path: `${group}/virtualNetworks/{name}`,
        handle: ({ parameters: { group: in_ = '', name = '' } }) => ({
          status: 200,
          body: store.get(in_, VIRTUAL_NETWORKS, name),
        }),
      },
      {
        name: 'subnets.get',
        method: 'GET',
        path: `${group}/virtualNetworks/{name}/subnets/{subnet}`,
        handle: ({ parameters: { group: in_ = '', name = '', subnet = '' } }) => ({
          status: 200,
          body: store.get(in_, SUBNETS, name, subnet),
        }),
      },
      {
        name: 'networkSecurityGroups.list',
        method: 'GET',
        path: `${group}/networkSecurityGroups`,
        handle: ({ parameters: { group: in_ = '' } }) => listed(store.list(SECURITY_GROUPS, in_)),
      },
      {
        name: 'loadBalancers.list',
        method: 'GET',
        path: `${group}/loadBalancers`,
        handle: ({ parameters: { group: in_ = '' } }) => listed(store.list(LOAD_BALANCERS, in_)),
      },
    ];
  }

  private addressesOf(subnetId: string): { readonly used: Set<number>; next: number } {
    const key = subnetId.toLowerCase();
    const state = this.addresses.get(key) ?? { used: new Set<number>(), next: RESERVED_AT_START };
    this.addresses.set(key, state);
    return state;
  }

  private following(offset: number, size: number): number {
    return offset + 1 >= size - RESERVED_AT_END ? RESERVED_AT_START : offset + 1;
  }

  private resource(
    group: string,
    type: string,
    names: readonly string[],
    properties: ArmResource['properties'],
  ): ArmResource {
    return {
      id: this.context.store.idOf(group, type, ...names),
      name: names.at(-1) ?? '',
      type,
      // Children live where their parent does and say nothing of it.
      ...(type === SUBNETS || type === BACKEND_POOLS ? {} : { location: this.context.location }),
      etag: `W/"${this.context.random.uuid()}"`,
      properties,
    };
  }
}

/** Every id under `subnet` and `loadBalancerBackendAddressPools` of an interface's configurations. */
export function referencesOf(properties: unknown): readonly string[] {
  const ids = listAt(properties, 'ipConfigurations').flatMap((configuration) => [
    textAt(configuration, 'properties', 'subnet', 'id'),
    ...listAt(configuration, 'properties', 'loadBalancerBackendAddressPools').map((pool) => textAt(pool, 'id')),
  ]);
  ids.push(textAt(properties, 'networkSecurityGroup', 'id'));
  return [...new Set(ids.filter((id) => id !== undefined))];
}

function parsePrefix(prefix: string): { readonly base: number; readonly size: number } {
  const [address = '', bits = '32'] = prefix.split('/');
  return { base: numeric(address), size: 2 ** (32 - Number(bits)) };
}

function numeric(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

function dotted(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}
