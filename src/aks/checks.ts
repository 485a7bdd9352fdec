/** Requirements on a cluster before nodewright can be installed. Each check reports the problem and a remedy. */
import { isSettled, SIDE_BY_SIDE_FEATURE, type ManagedCluster } from './managedCluster.ts';

export interface CheckResult {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'error';
  readonly problem?: string;
  readonly remedy?: string;
}

interface Check {
  readonly name: string;
  /** A warning does not prevent the installation. */
  readonly level: 'warning' | 'error';
  /** The problem; undefined when there is none. */
  readonly problem: (cluster: ManagedCluster) => string | undefined;
  readonly remedy: string;
  /** Different level or remedy for node auto-provisioning by AKS. */
  readonly managed?: { readonly level: 'warning' | 'error'; readonly remedy: string };
}

export interface CheckOptions {
  /** Whether the subscription allows the cluster autoscaler together with node auto-provisioning. */
  readonly sideBySide: boolean;
}

const AUTOSCALER_CHECK = 'cluster autoscaler';

const network = ({ properties }: ManagedCluster): NonNullable<ManagedCluster['properties']['networkProfile']> =>
  properties.networkProfile ?? {};
const pools = ({ properties }: ManagedCluster) => properties.agentPoolProfiles ?? [];
const names = (found: readonly { readonly name: string }[]): string => found.map(({ name }) => name).join(', ');

const CHECKS: readonly Check[] = [
  {
    name: 'provisioning state',
    level: 'error',
    problem: ({ properties: { provisioningState = '' } }) =>
      isSettled(provisioningState) ? undefined : `the cluster is ${provisioningState || 'in no known state'}`,
    remedy: 'wait for the operation under way',
  },
  {
    name: 'last operation',
    level: 'warning',
    problem: ({ properties: { provisioningState = '' } }) =>
      isSettled(provisioningState) && provisioningState !== 'Succeeded'
        ? `the last operation on the cluster is ${provisioningState}`
        : undefined,
    remedy: 'the next change repairs it, or `az aks update` without any',
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
    managed: {
      level: 'error',
      remedy: 'AKS allows the zones `system` and `none` only: make the cluster anew with one',
    },
  },
  {
    name: AUTOSCALER_CHECK,
    level: 'warning',
    problem: (cluster) => {
      const scaled = pools(cluster).filter(({ enableAutoScaling }) => enableAutoScaling === true);
      return scaled.length === 0 ? undefined : `the cluster autoscaler scales ${names(scaled)}`;
    },
    remedy: 'turn it off, or keep the two apart: see `nodewright migrate cluster-autoscaler`',
    managed: {
      level: 'error',
      remedy: `turn it off with \`az aks nodepool update --disable-cluster-autoscaler\`, or register the feature ${SIDE_BY_SIDE_FEATURE}`,
    },
  },
  {
    name: 'Windows',
    level: 'warning',
    problem: (cluster) => {
      const found = pools(cluster).filter(({ osType }) => osType === 'Windows');
      return found.length === 0 ? undefined : `pools run Windows: ${names(found)}`;
    },
    remedy: 'pods for Windows stay on those pools: new nodes run Linux',
    managed: {
      level: 'error',
      remedy: 'AKS allows Linux pools only: move their pods to another cluster, and delete them',
    },
  },
  {
    name: 'system pool',
    level: 'error',
    problem: (cluster) =>
      pools(cluster).some(({ mode, count = 0 }) => mode === 'System' && count > 0)
        ? undefined
        : 'no system pool has a node',
    remedy: 'nodewright must run on nodes that are not its own: scale a system pool to one node or more',
    managed: { level: 'warning', remedy: 'keep the NodePool system-surge for the pods of the cluster itself' },
  },
];

/** For self-hosting: AKS must not run its own node auto-provisioning. */
const SELF_HOSTED: Check = {
  name: 'node auto-provisioning',
  level: 'error',
  problem: ({ properties }) =>
    properties.nodeProvisioningProfile?.mode === 'Auto' ? 'AKS runs node auto-provisioning in this cluster' : undefined,
  remedy: 'turn it off first: `nodewright aks disable`',
};

/** For node auto-provisioning by AKS, whose nodes reach the API server by its public name. */
const MANAGED: Check = {
  name: 'public network access',
  level: 'error',
  problem: ({ properties }) =>
    (properties.publicNetworkAccess ?? 'Enabled') === 'Enabled' ? undefined : 'public network access is turned off',
  remedy: 'turn it on: AKS allows nothing else beside node auto-provisioning',
};

export function checkCluster(
  cluster: ManagedCluster,
  kind: 'self-hosted' | 'managed',
  { sideBySide }: CheckOptions = { sideBySide: false },
): CheckResult[] {
  return [...CHECKS, kind === 'self-hosted' ? SELF_HOSTED : MANAGED].map((check) => {
    const { name, problem } = check;
    const found = problem(cluster);
    if (found === undefined) return { name, state: 'ok' as const };
    const isAllowed = kind === 'self-hosted' || (name === AUTOSCALER_CHECK && sideBySide);
    const { level, remedy } = isAllowed ? check : (check.managed ?? check);
    return { name, state: level, problem: found, remedy };
  });
}
