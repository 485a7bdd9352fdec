/** Settings of the cluster for the Azure adapter, with defaults. */
import type { ClusterNetworking } from '../catalogue/nodeSettings.ts';
import type { AzureEnvironment } from './azureEnvironment.ts';

export interface AzureSettings extends ClusterNetworking {
  readonly subscriptionId: string;
  readonly tenantId: string;
  /** Lower case, without spaces: `westeurope`. */
  readonly location: string;
  /** The resource group in which AKS creates the cluster's instances. */
  readonly nodeResourceGroup: string;
  readonly clusterName: string;
  /** Address of the API server for nodes. */
  readonly clusterEndpoint: string;
  readonly clusterCaPem: string;
  readonly kubeletBootstrapToken: string;
  /** Subnet of nodes whose class specifies none. */
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
  /** Resource ids of capacity reservation groups that nodes may use; not with AKS machines. */
  readonly capacityReservationGroups: readonly string[];
  /** Proxy of the nodes for outgoing traffic; empty: none. */
  readonly nodeProxy: NodeProxy;
  /** Certificate authorities that nodes trust in addition to their image's, in PEM. */
  readonly nodeTrustedCas: readonly string[];
  /** Whether VMs get the extension that registers them as AKS nodes. */
  readonly billingExtension: boolean;
  readonly environment: Pick<AzureEnvironment, 'name' | 'registry'>;
  /** How an instance becomes a node. */
  readonly provisionMode: ProvisionMode;
  /** The cluster's own resource group; required for AKS machines and the bootstrapping server. */
  readonly clusterResourceGroup: string;
  /** Server that generates the start-up script in mode `bootstrappingclient`. */
  readonly nodeBootstrappingServerUrl: string;
  /** Agent pool of mode Machines for AKS machines. */
  readonly aksMachinesPoolName: string;
  /** Existing AKS machines stay managed although new nodes are VMs. */
  readonly manageExistingAksMachines: boolean;
  /** When a batch of AKS machines is sent: milliseconds, and number of machines. */
  readonly machineBatch: { readonly idle: number; readonly max: number; readonly size: number };
  /** Images come from AKS's shared galleries, not from its community galleries. */
  readonly useSig: boolean;
  readonly sigSubscriptionId: string;
  readonly sigAccessTokenServerUrl: string;
  /** Namespace of this process; empty: it runs outside a cluster and no maintenance window applies. */
  readonly systemNamespace: string;
}

interface NodeProxy {
  readonly http: string;
  readonly https: string;
  /** Hosts, domains and ranges reached without the proxy. */
  readonly except: readonly string[];
}

type ProvisionMode = 'aksscriptless' | 'bootstrappingclient' | 'aksmachineapi' | 'aksmachineapiheaderbatch';

/** Whether new nodes are AKS machines. */
export function createsAksMachines({ provisionMode }: Pick<AzureSettings, 'provisionMode'>): boolean {
  return provisionMode === 'aksmachineapi' || provisionMode === 'aksmachineapiheaderbatch';
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

/** The required settings and any of the others. */
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
  capacityReservationGroups: [],
  nodeProxy: { http: '', https: '', except: [] },
  nodeTrustedCas: [],
  billingExtension: false,
  provisionMode: 'aksscriptless',
  clusterResourceGroup: '',
  nodeBootstrappingServerUrl: '',
  aksMachinesPoolName: '',
  manageExistingAksMachines: false,
  machineBatch: { idle: 1_000, max: 5_000, size: 50 },
  useSig: false,
  sigSubscriptionId: '',
  sigAccessTokenServerUrl: '',
  systemNamespace: '',
};

export function azureSettings(input: AzureSettingsInput): AzureSettings {
  return { ...DEFAULTS, ...input, location: input.location.toLowerCase().replaceAll(' ', '') };
}
