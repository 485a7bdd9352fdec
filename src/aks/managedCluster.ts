/** Reads and changes an AKS cluster through ARM. */
import type { Clock } from '../clock/clock.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { ApiVersions, type ArmPort } from './armPort.ts';

export interface ClusterName {
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  readonly name: string;
}

export interface AgentPool {
  readonly name: string;
  readonly provisioningState?: string;
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

/** The fields read here; the rest of the body is kept unchanged. */
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

/** Allows pools with the cluster autoscaler together with node auto-provisioning. */
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

/**
 * Whether no operation is in progress. AKS accepts changes of a cluster whose last operation failed: they repair it.
 */
export const isSettled = (provisioningState: string): boolean =>
  ['Succeeded', 'Failed', 'Canceled'].includes(provisioningState);

export interface SettleOptions {
  readonly arm: ArmPort;
  readonly clock: Clock;
  readonly name: ClusterName;
  /** Milliseconds; after them, the change is sent anyway and Azure decides. */
  readonly timeout: number;
  readonly onWait: (what: string, state: string) => void;
}

const LOOK_AGAIN = 2_000;

/** Waits for an operation of another or a killed command: AKS makes one change of a cluster at a time. */
export async function settle({ arm, clock, name, timeout, onWait }: SettleOptions): Promise<void> {
  const deadline = clock.now() + timeout;
  let told = '';
  for (;;) {
    const { properties } = await readCluster(arm, name);
    const states = [
      { what: 'the cluster', state: properties.provisioningState ?? '' },
      ...(properties.agentPoolProfiles ?? []).map((pool) => ({
        what: `the node pool ${pool.name}`,
        state: pool.provisioningState ?? 'Succeeded',
      })),
    ];
    const busy = states.find(({ state }) => !isSettled(state));
    if (busy === undefined || clock.now() >= deadline) return;
    if (told !== busy.what) onWait(busy.what, busy.state);
    told = busy.what;
    await clock.sleep(LOOK_AGAIN);
  }
}

/** AKS replaces the cluster as a whole: anything missing in the body would be reset. */
export async function changeCluster(
  arm: ArmPort,
  name: ClusterName,
  change: (properties: ManagedCluster['properties']) => object,
): Promise<void> {
  const cluster = await readCluster(arm, name);
  const properties = { ...cluster.properties, ...change(cluster.properties) };
  await arm.put(cluster.id, ApiVersions.cluster, { ...cluster, properties });
}

/** The cluster administrator's kubeconfig, or a user's if local accounts are disabled. */
export async function readKubeconfig(arm: ArmPort, name: ClusterName): Promise<string> {
  const answer = await arm.post<{ readonly kubeconfigs?: readonly { readonly value?: string }[] }>(
    `${clusterId(name)}/listClusterUserCredential`,
    ApiVersions.cluster,
  );
  return Buffer.from(answer.kubeconfigs?.[0]?.value ?? '', 'base64').toString('utf8');
}
