/** What the adapter knows of its cluster, with defaults filled in. */
import type { ClusterNetworking } from '../catalogue/nodeSettings.ts';
import type { AzureEnvironment } from './azureEnvironment.ts';

export interface AzureSettings extends ClusterNetworking {
  readonly subscriptionId: string;
  readonly tenantId: string;
  /** Lower case, without spaces: `westeurope`. */
  readonly location: string;
  /** The group that AKS puts the cluster's machines into. */
  readonly nodeResourceGroup: string;
  readonly clusterName: string;
  /** Address of the API server, as nodes reach it. */
  readonly clusterEndpoint: string;
  readonly clusterCaPem: string;
  readonly kubeletBootstrapToken: string;
  /** Subnet of nodes whose class names none. */
  readonly vnetSubnetId: string;
  readonly vnetGuid: string;
  readonly networkDataplane: 'cilium' | 'azure' | '';
  readonly networkPolicy: string;
  readonly dnsServiceIp: string;
  readonly linuxAdminUsername: string;
  readonly sshPublicKey: string;
  readonly nodeIdentities: readonly string[];
  readonly kubeletIdentityClientId: string;
  readonly additionalTags: Readonly<Record<string, string>>;
  readonly memoryOverheadPercent: number;
  readonly diskEncryptionSetId: string;
  /** Whether machines get the extension that tells Azure they are nodes of AKS. */
  readonly billingExtension: boolean;
  readonly environment: Pick<AzureEnvironment, 'name' | 'registry'>;
}

type Required = Pick<
  AzureSettings,
  | 'environment'
  | 'subscriptionId'
  | 'location'
  | 'nodeResourceGroup'
  | 'clusterName'
  | 'clusterEndpoint'
  | 'vnetSubnetId'
>;

/** The settings that must be given, and whichever others are. */
export type AzureSettingsInput = Required & Partial<AzureSettings>;

const DEFAULTS: Omit<AzureSettings, keyof Required> = {
  tenantId: '',
  clusterCaPem: '',
  kubeletBootstrapToken: '',
  networkPlugin: 'azure',
  networkPluginMode: 'overlay',
  networkDataplane: 'cilium',
  networkPolicy: '',
  vnetGuid: '',
  dnsServiceIp: '10.0.0.10',
  linuxAdminUsername: 'azureuser',
  sshPublicKey: '',
  nodeIdentities: [],
  kubeletIdentityClientId: '',
  additionalTags: {},
  memoryOverheadPercent: 0.075,
  diskEncryptionSetId: '',
  billingExtension: false,
};

export function azureSettings(input: AzureSettingsInput): AzureSettings {
  return { ...DEFAULTS, ...input, location: input.location.toLowerCase().replaceAll(' ', '') };
}
