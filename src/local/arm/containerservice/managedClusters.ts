/** Managed clusters: how AKS merges a write into the stored cluster, and what it refuses. */
import type { ArmContext } from '../armContext.ts';
import { listAt, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import { isFeatureRegistered } from '../resources/features.ts';
import { normalLocation } from '../resources/requestRules.ts';
import type { ReadOptions, ResourceKind, ResourceWrite } from '../resources/resourceKind.ts';
import { present, type ArmResource } from '../resourceStore.ts';
import { aksRefusal } from './aksRefusal.ts';
import { apiServerNames } from './apiServerNames.ts';
import { checkUpgrade, resolveKubernetes } from './kubernetesVersions.ts';
import { checkCluster, checkFixed, checkSystemPool, inProgress } from './clusterRules.ts';
import { MAINTENANCE_KIND } from './maintenanceConfigurations.ts';
import { networkProfile } from './networkProfile.ts';
import {
  checkAutomatic,
  checkManual,
  checkOutboundType,
  isAutomatic,
  makesDefaultPools,
  knowsNodeProvisioning,
  nodeProvisioningProfile,
  type NodeProvisioningUse,
} from './nodeProvisioning.ts';

export const MANAGED_CLUSTERS = 'Microsoft.ContainerService/managedClusters';
export const AGENT_POOLS = 'Microsoft.ContainerService/managedClusters/agentPools';
export const CONTAINER_SERVICE = 'Microsoft.ContainerService';
export const CLUSTER_PATH = `/subscriptions/{subscription}/resourceGroups/{group}/providers/${MANAGED_CLUSTERS}/{name}`;

export interface ClusterHooks {
  /** Creates the group and the network of a cluster's nodes unless they exist. */
  readonly layOut: (cluster: ArmResource) => void;
  /** Throws when the cluster cannot have the agent pools that its body names. */
  readonly checkPools: (cluster: ArmResource, write: ResourceWrite) => void;
  /** Writes the agent pools in the cluster's body. */
  readonly putPools: (cluster: ArmResource, write: ResourceWrite) => void;
  /** Removes the group with everything in it. */
  readonly tearDown: (nodeResourceGroup: string) => void;
  /** Returns what a cluster uses of node auto-provisioning; undefined when its API server does not run. */
  readonly provisioningUse: (cluster: ArmResource) => NodeProvisioningUse | undefined;
  /** The tenant of the identities that Azure creates for clusters. */
  readonly tenantId: string;
}

/** Defaults of AKS. */
export const CLUSTER_DEFAULTS: JsonObject = {
  enableRBAC: true,
  supportPlan: 'KubernetesOfficial',
  maxAgentPools: 100,
  disableLocalAccounts: false,
  servicePrincipalProfile: { clientId: 'msi' },
};

export function clusterKinds(hooks: ClusterHooks): readonly ResourceKind[] {
  return [
    {
      type: MANAGED_CLUSTERS,
      tracked: true,
      put: 'async',
      patch: 'merge',
      remove: 'accepted',
      duration: 'managedCluster',
      members: ['sku', 'kind'],
      properties: (write) => clusterOf(write, hooks),
      busy: ({ properties }, operation) => inProgress(textAt(properties, 'provisioningState') ?? '', operation),
      preflight: (name, group, { message }) =>
        `Preflight validation check for resource(s) for container service ${name} in resource group ${group} failed. Message: ${message}. Details: `,
      afterPut: (context, cluster, write) => {
        context.store.put(withDefaults(context, cluster, write.existing, hooks.tenantId));
        hooks.layOut(cluster);
        hooks.putPools(cluster, write);
      },
      show: showCluster,
      afterDelete: (_context, cluster) => hooks.tearDown(textAt(cluster.properties, 'nodeResourceGroup') ?? ''),
    },
    MAINTENANCE_KIND,
  ];
}

function clusterOf(write: ResourceWrite, { provisioningUse, checkPools }: ClusterHooks): JsonObject {
  const { context, existing, name, id, body } = write;
  const before = existing?.properties;
  checkCluster(name, objectAt(body, 'properties'));
  checkFixed(before, objectAt(body, 'properties'));
  const { agentPoolProfiles: _pools, nodeProvisioningProfile: provisioning, ...given } = objectAt(body, 'properties');
  const location = existing?.location ?? normalLocation(textAt(body, 'location') ?? context.location);
  const version = resolveKubernetes(textAt(given, 'kubernetesVersion') ?? textAt(before, 'kubernetesVersion'), name);
  checkUpgrade(textAt(before, 'kubernetesVersion') ?? '', version);
  const { fqdn: _public, privateFQDN: _private, ...merged } = objectAt(merge(merge(CLUSTER_DEFAULTS, before), given));
  const dnsPrefix = textAt(merged, 'dnsPrefix') ?? name;
  const knowsProvisioning = knowsNodeProvisioning(write.request.query.get('api-version') ?? '');
  const properties: JsonObject = {
    ...merged,
    kubernetesVersion: version,
    currentKubernetesVersion: version,
    dnsPrefix,
    nodeResourceGroup: nodeGroupOf(write, location, given),
    resourceUID: textAt(before, 'resourceUID') ?? context.random.uuid(),
    identityProfile: before?.['identityProfile'] ?? {
      kubeletidentity: kubeletIdentity(write, nodeGroupOf(write, location, given)),
    },
    powerState: objectAt(before, 'powerState')['code'] === undefined ? { code: 'Running' } : before?.['powerState'],
    networkProfile: networkProfile(objectAt(merged, 'networkProfile'), objectAt(given, 'networkProfile')),
    nodeProvisioningProfile: nodeProvisioningProfile(before, knowsProvisioning ? objectAt(provisioning) : {}),
    ...apiServerNames({ before, properties: merged, dnsPrefix, location, random: context.random }),
    ...issuerOf(merged, location, context.random),
  };
  checkProvisioning(write, id, properties, provisioningUse);
  // A cluster whose pools are refused must not be stored.
  checkPools({ id, name, type: MANAGED_CLUSTERS, etag: '', location, properties }, write);
  return properties;
}

function checkProvisioning(
  { context, existing, body }: ResourceWrite,
  id: string,
  properties: JsonObject,
  use: ClusterHooks['provisioningUse'],
): void {
  if (existing !== undefined) checkOutboundType(existing.properties, properties);
  if (existing !== undefined && isAutomatic(existing.properties) && !isAutomatic(properties))
    checkManual(use(existing));
  const pools = poolsOf(context.store.children(id, AGENT_POOLS), body);
  if (isAutomatic(properties)) {
    checkAutomatic({
      identity: objectAt(body)['identity'] ?? existing?.identity,
      properties,
      pools,
      isRegistered: (feature) => isFeatureRegistered(context, CONTAINER_SERVICE, feature),
    });
  }
  if (existing === undefined) checkSystemPool(pools, isAutomatic(properties) && makesDefaultPools(properties));
}

/** Returns the agent pools after the write. */
function poolsOf(present: readonly ArmResource[], body: unknown): readonly JsonObject[] {
  const pools = new Map(present.map(({ name, properties }) => [name, properties]));
  for (const pool of listAt(body, 'properties', 'agentPoolProfiles')) {
    const name = textAt(pool, 'name') ?? '';
    pools.set(name, { ...pools.get(name), ...objectAt(pool) });
  }
  return [...pools.values()];
}

/** Returns the identity of the nodes, which is in their resource group. */
function kubeletIdentity({ context, name }: ResourceWrite, nodeResourceGroup: string): JsonObject {
  const { store, random } = context;
  return {
    resourceId: `${store.groupId(nodeResourceGroup)}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/${name}-agentpool`,
    clientId: random.uuid(),
    objectId: random.uuid(),
  };
}

function nodeGroupOf({ existing, id, name }: ResourceWrite, location: string, given: JsonObject): string {
  const before = textAt(existing?.properties, 'nodeResourceGroup');
  const wanted = textAt(given, 'nodeResourceGroup');
  if (before === undefined) return wanted ?? `MC_${id.split('/')[4] ?? ''}_${name}_${location}`;
  if (wanted === undefined || wanted.toLowerCase() === before.toLowerCase()) return before;
  throw aksRefusal('PropertyChangeNotAllowed', { property: 'properties.nodeResourceGroup' });
}

/** Merges objects by member and replaces other values; members that are absent or null stay as they were. */
function merge(before: unknown, given: unknown): unknown {
  if (given === undefined || given === null) return before;
  if (typeof given !== 'object' || Array.isArray(given)) return given;
  const old = objectAt(before);
  return Object.fromEntries(
    [...new Set([...Object.keys(old), ...Object.keys(given)])].map((key) => [
      key,
      merge(old[key], (given as JsonObject)[key]),
    ]),
  );
}

/** Returns the profile of the OIDC issuer with its URL, which stays when the issuer is turned off. */
function issuerOf(merged: JsonObject, location: string, random: ArmContext['random']): JsonObject {
  const profile = objectAt(merged, 'oidcIssuerProfile');
  if (profile['enabled'] !== true && profile['issuerURL'] === undefined) return {};
  const issuerURL =
    textAt(profile, 'issuerURL') ?? `https://${location}.oic.prod-aks.azure.com/${random.uuid()}/${random.uuid()}/`;
  return { oidcIssuerProfile: { ...profile, issuerURL } };
}

/** Returns the cluster with the ids of a system-assigned identity, and with the free tier by default. */
function withDefaults(
  { random }: ArmContext,
  cluster: ArmResource,
  existing: ArmResource | undefined,
  tenantId: string,
): ArmResource {
  const sku = cluster.sku ?? existing?.sku ?? { name: 'Base', tier: 'Free' };
  const identity = objectAt(cluster.identity ?? existing?.identity ?? { type: 'SystemAssigned' });
  if (textAt(identity, 'type') !== 'SystemAssigned') return { ...cluster, sku, identity };
  const principalId = textAt(existing?.identity, 'principalId') ?? random.uuid();
  return { ...cluster, sku, identity: { ...identity, principalId, tenantId } };
}

/** Returns the cluster as clients see it; api-versions before node auto-provisioning do not show its profile. */
function showCluster(context: ArmContext, cluster: ArmResource, { apiVersion }: ReadOptions): object {
  const pools = context.store.children(cluster.id, AGENT_POOLS);
  const { nodeProvisioningProfile: provisioning, ...properties } = cluster.properties;
  return {
    ...cluster,
    eTag: cluster.etag,
    properties: {
      ...properties,
      ...(knowsNodeProvisioning(apiVersion) && { nodeProvisioningProfile: provisioning }),
      agentPoolProfiles: pools.map((pool) => ({ name: pool.name, ...present(pool).properties })),
    },
  };
}
