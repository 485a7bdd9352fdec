/** Managed clusters as AKS keeps them: what a write makes of the one before, and what AKS refuses. */
import type { ArmContext } from '../armContext.ts';
import { listAt, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import { isFeatureRegistered } from '../resources/features.ts';
import { normalLocation } from '../resources/requestRules.ts';
import type { Asked, ResourceKind, Wish } from '../resources/resourceKind.ts';
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
  /** Makes the group and the network of a cluster's nodes, when they are not there. */
  readonly layOut: (cluster: ArmResource) => void;
  /** Throws when the cluster cannot have the agent pools that its body names. */
  readonly checkPools: (cluster: ArmResource, wish: Wish) => void;
  /** Brings the agent pools to what the cluster's body says. */
  readonly putPools: (cluster: ArmResource, wish: Wish) => void;
  /** Removes the group with everything in it. */
  readonly tearDown: (nodeResourceGroup: string) => void;
  /** What of node auto-provisioning runs in a cluster; undefined when its API server does not run. */
  readonly provisioningUse: (cluster: ArmResource) => NodeProvisioningUse | undefined;
  /** The directory of the identities that Azure makes for clusters. */
  readonly tenantId: string;
}

/** What AKS fills in. */
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
      properties: (wish) => clusterOf(wish, hooks),
      busy: ({ properties }, operation) => inProgress(textAt(properties, 'provisioningState') ?? '', operation),
      preflight: (name, group, { message }) =>
        `Preflight validation check for resource(s) for container service ${name} in resource group ${group} failed. Message: ${message}. Details: `,
      afterPut: (context, cluster, wish) => {
        context.store.put(withDefaults(context, cluster, wish.existing, hooks.tenantId));
        hooks.layOut(cluster);
        hooks.putPools(cluster, wish);
      },
      show: showCluster,
      afterDelete: (_context, cluster) => hooks.tearDown(textAt(cluster.properties, 'nodeResourceGroup') ?? ''),
    },
    MAINTENANCE_KIND,
  ];
}

function clusterOf(wish: Wish, { provisioningUse, checkPools }: ClusterHooks): JsonObject {
  const { context, existing, name, id, body } = wish;
  const before = existing?.properties;
  checkCluster(name, objectAt(body, 'properties'));
  checkFixed(before, objectAt(body, 'properties'));
  const { agentPoolProfiles: _pools, nodeProvisioningProfile: provisioning, ...given } = objectAt(body, 'properties');
  const location = existing?.location ?? normalLocation(textAt(body, 'location') ?? context.location);
  const version = resolveKubernetes(textAt(given, 'kubernetesVersion') ?? textAt(before, 'kubernetesVersion'), name);
  checkUpgrade(textAt(before, 'kubernetesVersion') ?? '', version);
  const { fqdn: _public, privateFQDN: _private, ...merged } = objectAt(merge(merge(CLUSTER_DEFAULTS, before), given));
  const dnsPrefix = textAt(merged, 'dnsPrefix') ?? name;
  const knowsProvisioning = knowsNodeProvisioning(wish.request.query.get('api-version') ?? '');
  const properties: JsonObject = {
    ...merged,
    kubernetesVersion: version,
    currentKubernetesVersion: version,
    dnsPrefix,
    nodeResourceGroup: nodeGroupOf(wish, location, given),
    resourceUID: textAt(before, 'resourceUID') ?? context.random.uuid(),
    identityProfile: before?.['identityProfile'] ?? {
      kubeletidentity: kubeletIdentity(wish, nodeGroupOf(wish, location, given)),
    },
    powerState: objectAt(before, 'powerState')['code'] === undefined ? { code: 'Running' } : before?.['powerState'],
    networkProfile: networkProfile(objectAt(merged, 'networkProfile'), objectAt(given, 'networkProfile')),
    nodeProvisioningProfile: nodeProvisioningProfile(before, knowsProvisioning ? objectAt(provisioning) : {}),
    ...apiServerNames({ before, properties: merged, dnsPrefix, location, random: context.random }),
    ...issuerOf(merged, location, context.random),
  };
  checkProvisioning(wish, id, properties, provisioningUse);
  // Before anything is stored: a cluster whose pools are refused is not there.
  checkPools({ id, name, type: MANAGED_CLUSTERS, etag: '', location, properties }, wish);
  return properties;
}

function checkProvisioning(
  { context, existing, body }: Wish,
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

/** Agent pools as the write would leave them. */
function poolsOf(present: readonly ArmResource[], body: unknown): readonly JsonObject[] {
  const pools = new Map(present.map(({ name, properties }) => [name, properties]));
  for (const pool of listAt(body, 'properties', 'agentPoolProfiles')) {
    const name = textAt(pool, 'name') ?? '';
    pools.set(name, { ...pools.get(name), ...objectAt(pool) });
  }
  return [...pools.values()];
}

/** The identity that nodes use, in the group where they are. */
function kubeletIdentity({ context, name }: Wish, nodeResourceGroup: string): JsonObject {
  const { store, random } = context;
  return {
    resourceId: `${store.groupId(nodeResourceGroup)}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/${name}-agentpool`,
    clientId: random.uuid(),
    objectId: random.uuid(),
  };
}

function nodeGroupOf({ existing, id, name }: Wish, location: string, given: JsonObject): string {
  const before = textAt(existing?.properties, 'nodeResourceGroup');
  const wanted = textAt(given, 'nodeResourceGroup');
  if (before === undefined) return wanted ?? `MC_${id.split('/')[4] ?? ''}_${name}_${location}`;
  if (wanted === undefined || wanted.toLowerCase() === before.toLowerCase()) return before;
  throw aksRefusal('PropertyChangeNotAllowed', { property: 'properties.nodeResourceGroup' });
}

/** Objects member by member, anything else whole; what a client leaves out or sends as null stays as it was. */
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

/** A cluster with an issuer of tokens says where it is; the issuer stays when it is turned off. */
function issuerOf(merged: JsonObject, location: string, random: ArmContext['random']): JsonObject {
  const profile = objectAt(merged, 'oidcIssuerProfile');
  if (profile['enabled'] !== true && profile['issuerURL'] === undefined) return {};
  const issuerURL =
    textAt(profile, 'issuerURL') ?? `https://${location}.oic.prod-aks.azure.com/${random.uuid()}/${random.uuid()}/`;
  return { oidcIssuerProfile: { ...profile, issuerURL } };
}

/** Azure fills in the ids of a system-assigned identity, and the free tier where none is asked for. */
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

/** An api-version from before node auto-provisioning does not show it. */
function showCluster(context: ArmContext, cluster: ArmResource, { apiVersion }: Asked): object {
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
