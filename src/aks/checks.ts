/** What a cluster must be like before nodewright can run in it. Each check says what is wrong and what to do. */
import type { ManagedCluster } from './managedCluster.ts';

export interface CheckResult {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'error';
  readonly problem?: string;
  readonly remedy?: string;
}

interface Check {
  readonly name: string;
  /** A warning does not keep it from being installed. */
  readonly level: 'warning' | 'error';
  /** What is wrong; undefined when nothing is. */
  readonly problem: (cluster: ManagedCluster) => string | undefined;
  readonly remedy: string;
}

const network = ({ properties }: ManagedCluster): NonNullable<ManagedCluster['properties']['networkProfile']> =>
  properties.networkProfile ?? {};
const pools = ({ properties }: ManagedCluster) => properties.agentPoolProfiles ?? [];
const names = (found: readonly { readonly name: string }[]): string => found.map(({ name }) => name).join(', ');

const CHECKS: readonly Check[] = [
  {
    name: 'provisioning state',
    level: 'error',
    problem: ({ properties: { provisioningState = '' } }) =>
      provisioningState === 'Succeeded' ? undefined : `the cluster is ${provisioningState || 'in no known state'}`,
    remedy: 'wait for the operation under way, or repair the cluster with `az aks update`',
  },
  {
    name: 'network plugin',
    level: 'error',
    problem: (cluster) => {
      const { networkPlugin = 'kubenet' } = network(cluster);
      return ['azure', 'none'].includes(networkPlugin) ? undefined : `the network plugin is ${networkPlugin}`;
    },
    remedy: 'move the cluster to Azure CNI Overlay',
  },
  {
    name: 'network policy',
    level: 'error',
    problem: (cluster) => (network(cluster).networkPolicy === 'calico' ? 'the network policy is Calico' : undefined),
    remedy: 'use Cilium or Azure network policies',
  },
  {
    name: 'addresses of pods',
    level: 'error',
    problem: (cluster) => {
      const found = pools(cluster).filter(
        (pool) => (pool.podSubnetID ?? '') !== '' || pool.podIPAllocationMode === 'StaticBlock',
      );
      return found.length === 0 ? undefined : `pools take the addresses of pods from a subnet: ${names(found)}`;
    },
    remedy: 'use Azure CNI Overlay, or addresses from the subnet of the nodes',
  },
  {
    name: 'address families',
    level: 'error',
    problem: (cluster) =>
      (network(cluster).ipFamilies ?? ['IPv4']).every((family) => family === 'IPv4')
        ? undefined
        : 'the cluster has IPv6 addresses',
    remedy: 'use a cluster with IPv4 addresses only',
  },
  {
    name: 'load balancer',
    level: 'error',
    problem: (cluster) =>
      network(cluster).loadBalancerSku?.toLowerCase() === 'basic' ? 'the load balancer is a Basic one' : undefined,
    remedy: 'upgrade to a Standard load balancer',
  },
  {
    name: 'identity of the cluster',
    level: 'error',
    problem: ({ identity, properties }) =>
      identity?.type === undefined ||
      identity.type === 'None' ||
      (properties.servicePrincipalProfile?.clientId ?? 'msi') !== 'msi'
        ? 'the cluster has a service principal'
        : undefined,
    remedy: 'give it a managed identity: `az aks update --enable-managed-identity`',
  },
  {
    name: 'private DNS zone',
    level: 'warning',
    problem: ({ properties }) => {
      const zone = properties.apiServerAccessProfile?.privateDNSZone ?? 'system';
      return ['system', 'none'].includes(zone.toLowerCase())
        ? undefined
        : 'the API server has a private DNS zone of its own';
    },
    remedy: 'see that new nodes can resolve the name of the API server',
  },
  {
    name: 'cluster autoscaler',
    level: 'warning',
    problem: (cluster) => {
      const scaled = pools(cluster).filter(({ enableAutoScaling }) => enableAutoScaling === true);
      return scaled.length === 0 ? undefined : `the cluster autoscaler scales ${names(scaled)}`;
    },
    remedy: 'turn it off, or keep the two apart: see `nodewright migrate cluster-autoscaler`',
  },
  {
    name: 'Windows',
    level: 'warning',
    problem: (cluster) => {
      const found = pools(cluster).filter(({ osType }) => osType === 'Windows');
      return found.length === 0 ? undefined : `pools run Windows: ${names(found)}`;
    },
    remedy: 'pods for Windows stay on those pools: new nodes run Linux',
  },
  {
    name: 'system pool',
    level: 'error',
    problem: (cluster) =>
      pools(cluster).some(({ mode, count = 0 }) => mode === 'System' && count > 0)
        ? undefined
        : 'no system pool has a node',
    remedy: 'nodewright must run on nodes that are not its own: scale a system pool to one node or more',
  },
];

/** For a nodewright of your own: AKS must not run one as well. */
const SELF_HOSTED: Check = {
  name: 'node auto-provisioning',
  level: 'error',
  problem: ({ properties }) =>
    properties.nodeProvisioningProfile?.mode === 'Auto' ? 'AKS runs node auto-provisioning in this cluster' : undefined,
  remedy: 'turn it off first: `nodewright aks disable`',
};

export function checkCluster(cluster: ManagedCluster, kind: 'self-hosted' | 'managed'): CheckResult[] {
  const checks = kind === 'self-hosted' ? [...CHECKS, SELF_HOSTED] : CHECKS;
  return checks.map(({ name, level, problem, remedy }) => {
    const found = problem(cluster);
    return found === undefined ? { name, state: 'ok' as const } : { name, state: level, problem: found, remedy };
  });
}
