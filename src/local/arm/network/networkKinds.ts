/** Resource kinds of Microsoft.Network for `resourceRoutes`: networks, subnets, security groups and others. */
import type { ArmContext } from '../armContext.ts';
import { refusal } from '../refusal.ts';
import { listAt, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import type { ResourceKind, ResourceWrite } from '../resources/resourceKind.ts';
import { withDefaults } from '../resources/resourceRoutes.ts';
import { present, type ArmResource } from '../resourceStore.ts';
import { contains, overlaps, parsePrefix } from './addressPrefix.ts';
import { NETWORK_INTERFACES } from './networkInterfaces.ts';
import { prefixOf, type SubnetAddresses } from './subnetAddresses.ts';

export const VIRTUAL_NETWORKS = 'Microsoft.Network/virtualNetworks';
export const SUBNETS = 'Microsoft.Network/virtualNetworks/subnets';
export const SECURITY_GROUPS = 'Microsoft.Network/networkSecurityGroups';
export const ROUTE_TABLES = 'Microsoft.Network/routeTables';
export const LOAD_BALANCERS = 'Microsoft.Network/loadBalancers';
export const BACKEND_POOLS = 'Microsoft.Network/loadBalancers/backendAddressPools';
const PUBLIC_ADDRESSES = 'Microsoft.Network/publicIPAddresses';

const COMMON = { tracked: true, put: 'async', patch: 'tags', remove: 'accepted', duration: 'other' } as const;

export function networkKinds(addresses: SubnetAddresses): readonly ResourceKind[] {
  const inUse = (subnet: ArmResource): void => {
    const [holder] = addresses.holders(subnet.id);
    if (holder === undefined) return;
    throw refusal('InUseSubnetCannotBeDeleted', { name: subnet.name, holder });
  };
  const showSubnet = (subnet: ArmResource): ArmResource => {
    const holders = addresses.holders(subnet.id);
    const ipConfigurations = holders.map((id) => ({ id }));
    return holders.length === 0 ? subnet : { ...subnet, properties: { ...subnet.properties, ipConfigurations } };
  };
  return [
    {
      ...COMMON,
      type: VIRTUAL_NETWORKS,
      properties: virtualNetworkOf,
      afterPut: putChildren(SUBNETS, subnetOf),
      show: (context, network) => ({
        ...network,
        properties: {
          ...network.properties,
          subnets: context.store.children(network.id, SUBNETS).map((subnet) => present(showSubnet(subnet))),
        },
      }),
      checkDelete: (context, network) => context.store.children(network.id, SUBNETS).forEach(inUse),
    },
    {
      ...COMMON,
      type: SUBNETS,
      tracked: false,
      properties: (write) => subnetOf(write.context, write.id, write.name, write.body),
      show: (_context, subnet) => showSubnet(subnet),
      checkDelete: (_context, subnet) => inUse(subnet),
    },
    {
      ...COMMON,
      type: SECURITY_GROUPS,
      properties: withGuid({ securityRules: [] }),
      checkDelete: (context, group) => refuseWhileUsed(context, group),
    },
    { ...COMMON, type: ROUTE_TABLES, properties: withGuid({ routes: [], disableBgpRoutePropagation: false }) },
    {
      ...COMMON,
      type: LOAD_BALANCERS,
      members: ['sku'],
      properties: withGuid(BALANCER, 'backendAddressPools'),
      afterPut: putChildren(BACKEND_POOLS, (_context, _id, _name, body) => objectAt(body, 'properties')),
      show: (context, balancer) => {
        const pools = context.store.children(balancer.id, BACKEND_POOLS);
        const backendAddressPools = pools.map((pool) => present(showPool(context, pool)));
        return { ...balancer, properties: { ...balancer.properties, backendAddressPools } };
      },
    },
    {
      ...COMMON,
      type: BACKEND_POOLS,
      tracked: false,
      properties: ({ body }) => withDefaults(body, {}),
      show: (context, pool) => showPool(context, pool),
    },
    {
      ...COMMON,
      type: PUBLIC_ADDRESSES,
      members: ['sku'],
      properties: (write) => ({
        ipAddress: `20.${octet(write)}.${octet(write)}.${octet(write)}`,
        ...existingText(write, 'ipAddress'),
        ...withGuid({ publicIPAddressVersion: 'IPv4', publicIPAllocationMethod: 'Static', idleTimeoutInMinutes: 4 })(
          write,
        ),
      }),
    },
  ];
}

/** Adds defaults and a GUID; leaves out `children`, the member whose items are resources of their own. */
function withGuid(defaults: JsonObject, children = ''): ResourceKind['properties'] {
  return (write) => {
    const { [children]: _children, ...properties } = withDefaults(write.body, defaults);
    const resourceGuid = textAt(write.existing?.properties, 'resourceGuid') ?? write.context.random.uuid();
    return { ...properties, resourceGuid };
  };
}

const BALANCER = {
  frontendIPConfigurations: [],
  loadBalancingRules: [],
  probes: [],
  inboundNatRules: [],
  outboundRules: [],
};

function existingText({ existing }: ResourceWrite, member: string): JsonObject {
  const text = textAt(existing?.properties, member);
  return text === undefined ? {} : { [member]: text };
}

function octet({ context }: ResourceWrite): number {
  return Math.floor(context.random.next() * 256);
}

function virtualNetworkOf(write: ResourceWrite): JsonObject {
  const prefixes = listAt(write.body, 'properties', 'addressSpace', 'addressPrefixes').map(String);
  if (prefixes.length === 0) throw refusal('InvalidRequestFormat.addressSpace', { id: write.id });
  prefixes.forEach(parsePrefix);
  return withGuid({ enableDdosProtection: false, virtualNetworkPeerings: [] }, 'subnets')(write);
}

type PropertiesOf = (context: ArmContext, id: string, name: string, body: unknown) => JsonObject;

/** Stores the children in a parent's body as resources, and deletes those that the body no longer has. */
function putChildren(type: string, propertiesOf: PropertiesOf): NonNullable<ResourceKind['afterPut']> {
  const member = type.split('/').at(-1) ?? '';
  return ({ store, random }, parent, { context, body }) => {
    if (objectAt(body, 'properties')[member] === undefined) return;
    const wanted = listAt(body, 'properties', member);
    const names = new Set(wanted.map((each) => textAt(each, 'name')?.toLowerCase()));
    for (const old of store.children(parent.id, type)) if (!names.has(old.name.toLowerCase())) store.delete(old.id);
    for (const each of wanted) {
      const name = textAt(each, 'name') ?? '';
      const id = `${parent.id}/${member}/${name}`;
      const properties = { ...propertiesOf(context, id, name, each), provisioningState: 'Succeeded' };
      store.put({ id, name, type, etag: `W/"${random.uuid()}"`, properties });
    }
  };
}

function subnetOf(context: ArmContext, id: string, name: string, body: unknown): JsonObject {
  const network = context.store.find(id.split('/').slice(0, -2).join('/'));
  const properties = withDefaults(body, {
    delegations: [],
    privateEndpointNetworkPolicies: 'Disabled',
    privateLinkServiceNetworkPolicies: 'Enabled',
  });
  const prefix = prefixOf({ id, name, type: SUBNETS, etag: '', properties });
  const spaces = listAt(network?.properties, 'addressSpace', 'addressPrefixes').map((space) =>
    parsePrefix(String(space)),
  );
  if (!spaces.some((space) => contains(space, prefix))) {
    throw refusal('NetcfgSubnetRangeOutsideVnet', { name, network: network?.name ?? '' });
  }
  const clash = context.store
    .children(network?.id ?? '', SUBNETS)
    .find((other) => other.id.toLowerCase() !== id.toLowerCase() && overlaps(prefixOf(other), prefix));
  if (clash === undefined) return properties;
  throw refusal('NetcfgSubnetRangesOverlap', { name, network: network?.name ?? '' });
}

/** Returns a pool with its members, which are stored with the interfaces. */
function showPool(context: ArmContext, pool: ArmResource): ArmResource {
  const wanted = pool.id.toLowerCase();
  const members = context.store
    .list(NETWORK_INTERFACES)
    .flatMap((nic) =>
      listAt(nic.properties, 'ipConfigurations').filter((configuration) =>
        listAt(configuration, 'properties', 'loadBalancerBackendAddressPools').some(
          (each) => textAt(each, 'id')?.toLowerCase() === wanted,
        ),
      ),
    );
  if (members.length === 0) return pool;
  const backendIPConfigurations = members.map((configuration) => ({ id: textAt(configuration, 'id') }));
  return { ...pool, properties: { ...pool.properties, backendIPConfigurations } };
}

function refuseWhileUsed(context: ArmContext, group: ArmResource): void {
  const wanted = group.id.toLowerCase();
  const user = [...context.store.list(NETWORK_INTERFACES), ...context.store.list(SUBNETS)].find(
    ({ properties }) => textAt(properties, 'networkSecurityGroup', 'id')?.toLowerCase() === wanted,
  );
  if (user === undefined) return;
  throw refusal('InUseNetworkSecurityGroupCannotBeDeleted', { id: group.id, user: user.id });
}
