/** An AKS cluster as ARM shows it, and changes of it. */
import { NodewrightError } from '../errors/nodewrightError.ts';
import { ApiVersions, type ArmPort } from './armPort.ts';

export interface ClusterName {
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  readonly name: string;
}

export interface AgentPool {
  readonly name: string;
  readonly mode?: string;
  readonly osType?: string;
  readonly count?: number;
  readonly enableAutoScaling?: boolean;
  readonly minCount?: number;
  readonly maxCount?: number;
  readonly vnetSubnetID?: string;
  readonly podSubnetID?: string;
  readonly podIPAllocationMode?: string;
  readonly nodeTaints?: readonly string[];
}

/** What is read of it; everything else of the body is kept as it is. */
export interface ManagedCluster {
  readonly id: string;
  readonly location: string;
  readonly identity?: { readonly type?: string };
  readonly properties: {
    readonly provisioningState?: string;
    readonly fqdn?: string;
    readonly privateFQDN?: string;
    readonly nodeResourceGroup: string;
    readonly currentKubernetesVersion?: string;
    readonly nodeProvisioningProfile?: { readonly mode?: string; readonly defaultNodePools?: string };
    readonly oidcIssuerProfile?: { readonly enabled?: boolean; readonly issuerURL?: string };
    readonly securityProfile?: { readonly workloadIdentity?: { readonly enabled?: boolean } };
    readonly servicePrincipalProfile?: { readonly clientId?: string };
    readonly publicNetworkAccess?: string;
    readonly apiServerAccessProfile?: { readonly privateDNSZone?: string };
    readonly identityProfile?: {
      readonly kubeletidentity?: { readonly resourceId?: string; readonly clientId?: string };
    };
    readonly linuxProfile?: {
      readonly adminUsername?: string;
      readonly ssh?: { readonly publicKeys?: readonly { readonly keyData?: string }[] };
    };
    readonly networkProfile?: {
      readonly networkPlugin?: string;
      readonly networkPluginMode?: string;
      readonly networkPolicy?: string;
      readonly networkDataplane?: string;
      readonly loadBalancerSku?: string;
      readonly ipFamilies?: readonly string[];
      readonly dnsServiceIP?: string;
    };
    readonly agentPoolProfiles?: readonly AgentPool[];
  };
}

/** Lets pools with the cluster autoscaler and node auto-provisioning run side by side. */
export const SIDE_BY_SIDE_FEATURE = 'AllowClusterAutoscalerAndNAP';

/** Whether the subscription has registered that feature. */
export async function allowsSideBySide(arm: ArmPort, { subscriptionId }: ClusterName): Promise<boolean> {
  const path = `/subscriptions/${subscriptionId}/providers/Microsoft.Features/providers/Microsoft.ContainerService/features/${SIDE_BY_SIDE_FEATURE}`;
  const feature = await arm.get<{ readonly properties?: { readonly state?: string } }>(path, ApiVersions.features);
  return feature?.properties?.state === 'Registered';
}

export function clusterId({ subscriptionId, resourceGroup, name }: ClusterName): string {
  return `${groupId(subscriptionId, resourceGroup)}/providers/Microsoft.ContainerService/managedClusters/${name}`;
}

export function groupId(subscriptionId: string, resourceGroup: string): string {
  return `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}`;
}

export async function readCluster(arm: ArmPort, name: ClusterName): Promise<ManagedCluster> {
  const cluster = await arm.get<ManagedCluster>(clusterId(name), ApiVersions.cluster);
  if (cluster === undefined) throw new NodewrightError('NoSuchCluster', { ...name });
  return cluster;
}

/** AKS takes a cluster as a whole: what is not in the body would be reset. */
export async function changeCluster(
  arm: ArmPort,
  name: ClusterName,
  change: (properties: ManagedCluster['properties']) => object,
): Promise<void> {
  const cluster = await readCluster(arm, name);
  const properties = { ...cluster.properties, ...change(cluster.properties) };
  await arm.put(cluster.id, ApiVersions.cluster, { ...cluster, properties });
}

/** The kubeconfig of the cluster's administrator, or of a user where local accounts are off. */
export async function readKubeconfig(arm: ArmPort, name: ClusterName): Promise<string> {
  const answer = await arm.post<{ readonly kubeconfigs?: readonly { readonly value?: string }[] }>(
    `${clusterId(name)}/listClusterUserCredential`,
    ApiVersions.cluster,
  );
  return Buffer.from(answer.kubeconfigs?.[0]?.value ?? '', 'base64').toString('utf8');
}
