/** AKS's rules of node auto-provisioning: when a cluster's mode may become Auto or Manual, and what Auto forbids. */
import { at, listAt, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import { aksRefusal } from './aksRefusal.ts';

/** Lets pools with the cluster autoscaler and node auto-provisioning run side by side. */
const SIDE_BY_SIDE_FEATURE = 'AllowClusterAutoscalerAndNAP';

const MODES: readonly string[] = ['Auto', 'Manual'];
const DEFAULT_POOLS: readonly string[] = ['Auto', 'None'];
/** The first api-versions with `nodeProvisioningProfile`. */
const FIRST_PREVIEW = '2023-09-02-preview';
const FIRST_STABLE = '2025-05-01';

/** A cluster after a write. */
export interface ProvisionedCluster {
  readonly identity: unknown;
  readonly properties: JsonObject;
  /** Properties of all agent pools. */
  readonly pools: readonly JsonObject[];
  readonly isRegistered: (feature: string) => boolean;
}

/** Nodes and NodePools of a cluster that keep node auto-provisioning from being disabled. */
export interface NodeProvisioningUse {
  /** Nodes with the label `karpenter.sh/nodepool`. */
  readonly nodes: readonly string[];
  /** NodePools whose `spec.limits.cpu` is not 0. */
  readonly openPools: readonly string[];
}

interface Rule {
  /** What a cluster must not have; the documentation names the rule by it. */
  readonly forbids: string;
  /** The end of AKS's error message. */
  readonly words: string;
  readonly isBroken: (cluster: ProvisionedCluster) => boolean;
}

const network = ({ properties }: ProvisionedCluster, member: string): string =>
  (textAt(properties, 'networkProfile', member) ?? '').toLowerCase();
const unless = (path: string, ...allowed: readonly string[]): string =>
  `unless ${path} is set to one of [${allowed.join(', ')}].`;
const unlessPools = (path: string, allowed: string): string =>
  `unless all AgentPools have property ${path} set to one of [${allowed}]`;

export const NODE_PROVISIONING_RULES: readonly Rule[] = [
  {
    forbids: 'kubenet',
    words: unless('.properties.networkProfile.networkPlugin', 'azure', 'none'),
    isBroken: (cluster) => !['azure', 'none'].includes(network(cluster, 'networkPlugin')),
  },
  {
    forbids: 'Calico network policy',
    words: 'if .properties.networkProfile.networkPolicy is set to one of [calico].',
    isBroken: (cluster) => network(cluster, 'networkPolicy') === 'calico',
  },
  {
    forbids: 'static block allocation of addresses',
    words: unlessPools('.properties.podIPAllocationMode', 'DynamicIndividual'),
    isBroken: ({ pools }) => pools.some((pool) => textAt(pool, 'podIPAllocationMode') === 'StaticBlock'),
  },
  {
    forbids: 'dynamic allocation of addresses',
    words: 'if any AgentPool has property .properties.podSubnetID specified.',
    isBroken: ({ pools }) => pools.some((pool) => (textAt(pool, 'podSubnetID') ?? '') !== ''),
  },
  {
    forbids: 'Basic load balancer',
    words: unless('.properties.networkProfile.loadBalancerSku', 'standard'),
    isBroken: (cluster) => network(cluster, 'loadBalancerSku') === 'basic',
  },
  {
    forbids: 'service principal',
    words: unless('.identity.type', 'SystemAssigned', 'UserAssigned'),
    isBroken: ({ identity, properties }) => {
      const client = textAt(properties, 'servicePrincipalProfile', 'clientId') ?? 'msi';
      return client !== 'msi' || textAt(identity, 'type') === 'None';
    },
  },
  {
    forbids: 'IPv6 and dual stack',
    words: unless('.properties.networkProfile.ipFamilies', 'IPv4'),
    isBroken: ({ properties }) => listAt(properties, 'networkProfile', 'ipFamilies').some((each) => each !== 'IPv4'),
  },
  {
    forbids: 'Windows node pools',
    words: unlessPools('.properties.osType', 'Linux'),
    isBroken: ({ pools }) => pools.some((pool) => textAt(pool, 'osType') === 'Windows'),
  },
  {
    forbids: 'cluster autoscaler',
    words: unlessPools('.properties.enableAutoScaling', 'false'),
    isBroken: ({ pools, isRegistered }) =>
      pools.some((pool) => at(pool, 'enableAutoScaling') === true) && !isRegistered(SIDE_BY_SIDE_FEATURE),
  },
  {
    forbids: 'public network access turned off',
    words: unless('.properties.publicNetworkAccess', 'Enabled'),
    isBroken: ({ properties }) => (textAt(properties, 'publicNetworkAccess') ?? 'Enabled').toLowerCase() !== 'enabled',
  },
  {
    forbids: 'custom private DNS zone',
    words: unless('.properties.apiServerAccessProfile.privateDNSZone', 'system', 'none'),
    isBroken: ({ properties }) => {
      const zone = textAt(properties, 'apiServerAccessProfile', 'privateDNSZone') ?? 'system';
      return !['system', 'none'].includes(zone.toLowerCase());
    },
  },
];

/** Whether the api-version has `nodeProvisioningProfile`; others cannot change it. */
export function knowsNodeProvisioning(apiVersion: string): boolean {
  return apiVersion.endsWith('-preview') ? apiVersion >= FIRST_PREVIEW : apiVersion >= FIRST_STABLE;
}

export function isAutomatic(properties: JsonObject | undefined): boolean {
  return textAt(properties, 'nodeProvisioningProfile', 'mode') === 'Auto';
}

/** Whether an automatic cluster gets the NodePools `default` and `system-surge`. */
export function makesDefaultPools(properties: JsonObject): boolean {
  return textAt(properties, 'nodeProvisioningProfile', 'defaultNodePools') !== 'None';
}

/** Returns the profile after a write; absent members stay. */
export function nodeProvisioningProfile(before: JsonObject | undefined, given: JsonObject): JsonObject {
  const profile = {
    mode: 'Manual',
    defaultNodePools: 'Auto',
    ...objectAt(before, 'nodeProvisioningProfile'),
    ...given,
  };
  checkMember('mode', textAt(profile, 'mode'), MODES);
  checkMember('defaultNodePools', textAt(profile, 'defaultNodePools'), DEFAULT_POOLS);
  return profile;
}

function checkMember(member: string, value: string | undefined, allowed: readonly string[]): void {
  if (value !== undefined && allowed.includes(value)) return;
  throw aksRefusal('InvalidParameter.provisioning', { member, allowed: allowed.join(', ') });
}

/** Throws when a cluster breaks a rule of node auto-provisioning. */
export function checkAutomatic(cluster: ProvisionedCluster): void {
  const broken = NODE_PROVISIONING_RULES.find((rule) => rule.isBroken(cluster));
  if (broken !== undefined) throw aksRefusal('OperationNotAllowed.auto', { unless: broken.words });
}

/** Throws while nodes or open NodePools are left. `use` is undefined when the cluster's API server does not run. */
export function checkManual(use: NodeProvisioningUse | undefined): void {
  const { nodes, openPools } = use ?? { nodes: [], openPools: [] };
  if (nodes.length === 0 && openPools.length === 0) return;
  const left = [
    ...(nodes.length === 0 ? [] : [`Existing NAP nodes: [${nodes.join(', ')}].`]),
    ...(openPools.length === 0 ? [] : [`NodePools with another limit: [${openPools.join(', ')}].`]),
  ];
  throw aksRefusal('OperationNotAllowed.manual', { left: left.join(' ') });
}

/** Throws when the outbound type of a cluster in mode Auto would change. */
export function checkOutboundType(before: JsonObject, after: JsonObject): void {
  const outbound = (properties: JsonObject): string =>
    textAt(properties, 'networkProfile', 'outboundType') ?? 'loadBalancer';
  if (!isAutomatic(before) || outbound(before) === outbound(after)) return;
  throw aksRefusal('OperationNotAllowed.outboundType');
}

/** Throws in mode Auto, in which neither the cluster nor its agent pools can be stopped. */
export function checkStop(properties: JsonObject, what: 'cluster' | 'agent pool'): void {
  if (isAutomatic(properties)) throw aksRefusal('OperationNotAllowed.stop', { what });
}
