/** The network that AKS creates for a cluster: subnet, security group, route table, load balancer and pools. */
import type { ArmContext } from '../armContext.ts';
import type { ArmResource } from '../resourceStore.ts';
import {
  BACKEND_POOLS,
  LOAD_BALANCERS,
  ROUTE_TABLES,
  SECURITY_GROUPS,
  SUBNETS,
  VIRTUAL_NETWORKS,
} from './networkKinds.ts';

export interface ClusterNetwork {
  readonly virtualNetworkId: string;
  readonly subnetId: string;
}

export function layOutClusterNetwork(context: ArmContext, group: string, clusterId: string): ClusterNetwork {
  const { store, random } = context;
  const { location } = store.group(group);
  const add = (type: string, names: readonly string[], properties: ArmResource['properties'], more = {}): string => {
    const id = store.idOf(group, type, ...names);
    // Child resources have no location of their own.
    const child = names.length > 1;
    store.put({
      id,
      name: names.at(-1) ?? '',
      type,
      ...(child ? {} : { location, tags: {} }),
      ...more,
      etag: `W/"${random.uuid()}"`,
      properties: { ...properties, provisioningState: 'Succeeded' },
    });
    return id;
  };
  const network = `aks-vnet-${clusterId}`;
  const virtualNetworkId = add(VIRTUAL_NETWORKS, [network], {
    resourceGuid: random.uuid(),
    addressSpace: { addressPrefixes: ['10.224.0.0/12'] },
    virtualNetworkPeerings: [],
    enableDdosProtection: false,
  });
  const securityGroupId = add(SECURITY_GROUPS, [`aks-agentpool-${clusterId}-nsg`], {
    resourceGuid: random.uuid(),
    securityRules: [],
  });
  const routeTableId = add(ROUTE_TABLES, [`aks-agentpool-${clusterId}-routetable`], {
    resourceGuid: random.uuid(),
    disableBgpRoutePropagation: false,
    routes: [],
  });
  const subnetId = add(SUBNETS, [network, 'aks-subnet'], {
    addressPrefix: '10.224.0.0/16',
    networkSecurityGroup: { id: securityGroupId },
    routeTable: { id: routeTableId },
    delegations: [],
    privateEndpointNetworkPolicies: 'Disabled',
    privateLinkServiceNetworkPolicies: 'Enabled',
  });
  const sku = { name: 'Standard', tier: 'Regional' };
  add(LOAD_BALANCERS, ['kubernetes'], { resourceGuid: random.uuid(), frontendIPConfigurations: [] }, { sku });
  for (const pool of ['kubernetes', 'aksOutboundBackendPool']) add(BACKEND_POOLS, ['kubernetes', pool], {});
  return { virtualNetworkId, subnetId };
}
