/** Installs nodewright in a cluster: by AKS as node auto-provisioning, or by the user as a Deployment. */
import { generateKeyPairSync } from 'node:crypto';
import { Kinds } from '../api/kinds.ts';
import type { Clock } from '../clock/clock.ts';
import { ignoreNotFound } from '../kube/errors.ts';
import type { Kube } from '../kube/kube.ts';
import { ApiVersions, type ArmPort } from './armPort.ts';
import { readIdentity, rightsSteps, NAME } from './azureRights.ts';
import { reopenStep } from './closedPools.ts';
import { chartStep, definitionsStep, poolsStep, readyStep, RELEASE } from './installSteps.ts';
import { changeCluster, groupId, readCluster, type ClusterName, type ManagedCluster } from './managedCluster.ts';
import type { Manifest } from './renderChart.ts';
import type { Step } from './step.ts';

export interface AksContext {
  readonly arm: ArmPort;
  readonly kube: Kube;
  readonly clock: Clock;
  readonly name: ClusterName;
}

export interface EnableOptions {
  readonly image: { readonly repository: string; readonly tag?: string };
  readonly defaultNodePools: 'Auto' | 'None';
  /** The actions of charts/nodewright/azure-role.json. */
  readonly actions: readonly string[];
  readonly renderChart: (values: Readonly<Record<string, unknown>>) => readonly Manifest[];
  /** Milliseconds. */
  readonly timeout: number;
}

/** Enables AKS's own node auto-provisioning: one change of the cluster. */
export function managedSteps(context: AksContext, defaultNodePools: 'Auto' | 'None'): readonly Step[] {
  const { arm, name } = context;
  const profileOf = async () => (await readCluster(arm, name)).properties.nodeProvisioningProfile;
  return [
    {
      name: 'node-auto-provisioning',
      what: `set the node provisioning mode to Auto, with default pools ${defaultNodePools}`,
      isDone: async () => {
        const profile = await profileOf();
        return profile?.mode === 'Auto' && (profile.defaultNodePools ?? 'Auto') === defaultNodePools;
      },
      run: () => changeCluster(arm, name, () => ({ nodeProvisioningProfile: { mode: 'Auto', defaultNodePools } })),
    },
    reopenStep(context.kube),
  ];
}

export async function enableSteps(context: AksContext, options: EnableOptions): Promise<readonly Step[]> {
  const { arm, kube, clock, name } = context;
  const cluster = await readCluster(arm, name);
  const subnetId = await nodeSubnet(arm, name, cluster);
  const { nodeResourceGroup, networkProfile } = cluster.properties;
  const ownNetwork = subnetId
    .toLowerCase()
    .startsWith(`${groupId(name.subscriptionId, nodeResourceGroup)}/`.toLowerCase());
  const sshKey = cluster.properties.linuxProfile?.ssh?.publicKeys?.[0]?.keyData ?? (await installedSshKey(kube));
  const render = async (): Promise<readonly Manifest[]> => {
    const clientId = (await readIdentity(arm, name))?.clientId ?? '';
    return options.renderChart(chartValues({ cluster, name, subnetId, clientId, sshKey, image: options.image }));
  };
  return [
    ...rightsSteps({
      arm,
      cluster: name,
      location: cluster.location,
      nodeResourceGroup,
      networkScopes: ownNetwork ? [] : [subnetId],
      actions: options.actions,
    }),
    definitionsStep(kube),
    chartStep(kube, render),
    ...(options.defaultNodePools === 'Auto'
      ? [poolsStep(kube, { networkDataplane: networkProfile?.networkDataplane ?? 'azure' })]
      : []),
    readyStep(kube, clock, options.timeout),
    reopenStep(kube),
  ];
}

interface Network {
  readonly properties?: { readonly subnets?: readonly { readonly id: string; readonly name: string }[] };
}

/** The first pool's subnet, or the one created by AKS. */
async function nodeSubnet(arm: ArmPort, name: ClusterName, { properties }: ManagedCluster): Promise<string> {
  const given = properties.agentPoolProfiles?.find(({ vnetSubnetID }) => vnetSubnetID !== undefined)?.vnetSubnetID;
  if (given !== undefined) return given;
  const group = groupId(name.subscriptionId, properties.nodeResourceGroup);
  const networks = await arm.list<Network>(`${group}/providers/Microsoft.Network/virtualNetworks`, ApiVersions.network);
  const subnets = networks.flatMap((network) => network.properties?.subnets ?? []);
  return (subnets.find((subnet) => subnet.name === 'aks-subnet') ?? subnets[0])?.id ?? '';
}

interface ValuesInput {
  readonly cluster: ManagedCluster;
  readonly name: ClusterName;
  readonly subnetId: string;
  readonly clientId: string;
  readonly sshKey: string;
  readonly image: EnableOptions['image'];
}

function chartValues({
  cluster,
  name,
  subnetId,
  clientId,
  sshKey,
  image,
}: ValuesInput): Readonly<Record<string, unknown>> {
  const { properties, location } = cluster;
  const network = properties.networkProfile ?? {};
  const kubelet = properties.identityProfile?.kubeletidentity ?? {};
  const variables: Readonly<Record<string, string | undefined>> = {
    LOCATION: location,
    AZURE_SUBSCRIPTION_ID: name.subscriptionId,
    ARM_RESOURCE_GROUP: name.resourceGroup,
    AZURE_NODE_RESOURCE_GROUP: properties.nodeResourceGroup,
    VNET_SUBNET_ID: subnetId,
    SSH_PUBLIC_KEY: sshKey,
    LINUX_ADMIN_USERNAME: properties.linuxProfile?.adminUsername,
    KUBELET_IDENTITY_CLIENT_ID: kubelet.clientId,
    NODE_IDENTITIES: kubelet.resourceId,
    NETWORK_PLUGIN: network.networkPlugin,
    NETWORK_PLUGIN_MODE: network.networkPluginMode ?? '',
    NETWORK_POLICY: network.networkPolicy,
    NETWORK_DATAPLANE: network.networkDataplane ?? '',
    DNS_SERVICE_IP: network.dnsServiceIP,
  };
  return {
    image,
    serviceAccount: { name: NAME, annotations: { 'azure.workload.identity/client-id': clientId } },
    podLabels: { 'azure.workload.identity/use': 'true' },
    settings: {
      clusterName: name.name,
      clusterEndpoint: `https://${properties.privateFQDN ?? properties.fqdn ?? ''}:443`,
      discoverBootstrapToken: true,
    },
    controller: {
      env: Object.entries(variables).flatMap(([key, value]) => (value === undefined ? [] : [{ name: key, value }])),
    },
    replicas: replicasFor(cluster),
  };
}

/** Replicas have anti-affinity: a second one needs a second node. */
function replicasFor({ properties }: ManagedCluster): number {
  const nodes = (properties.agentPoolProfiles ?? []).reduce((sum, { count = 0 }) => sum + count, 0);
  return nodes > 1 ? 2 : 1;
}

/** The key of an earlier installation: a new one would change the Deployment and restart its pods. */
async function installedSshKey(kube: Kube): Promise<string> {
  const ref = { name: RELEASE.Name, namespace: RELEASE.Namespace };
  const deployment = await ignoreNotFound(kube.get(Kinds.Deployment, ref));
  const env = deployment?.spec?.template.spec?.containers.flatMap((container) => container.env ?? []) ?? [];
  return env.find(({ name }) => name === 'SSH_PUBLIC_KEY')?.value ?? unusedSshKey();
}

/** Azure VMs require a key; its private half is discarded, so it gives no access. */
function unusedSshKey(): string {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
  const field = (bytes: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const modulus = Buffer.concat([Buffer.from([0]), Buffer.from(n, 'base64url')]);
  const blob = Buffer.concat([field(Buffer.from('ssh-rsa')), field(Buffer.from(e, 'base64url')), field(modulus)]);
  return `ssh-rsa ${blob.toString('base64')} ${RELEASE.Name}`;
}
