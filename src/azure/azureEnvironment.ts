/** The Azure clouds: one record each, with all differences between them. */
export interface AzureEnvironment {
  /** As spelled in ARM_CLOUD and in the nodes' start-up script. */
  readonly name: string;
  readonly resourceManager: string;
  readonly directory: string;
  /** Audience of tokens for the resource manager. */
  readonly audience: string;
  /** URL of the retail price list without its query; only the public cloud has one. */
  readonly prices: string | undefined;
  /** Registry of AKS's own images. */
  readonly registry: string;
  /** Whether VMs get the extension that registers them as AKS nodes. */
  readonly billingExtension: boolean;
}

const PUBLIC_REGISTRY = 'mcr.microsoft.com';

const PUBLIC: AzureEnvironment = {
  name: 'AzurePublicCloud',
  resourceManager: 'https://management.azure.com',
  directory: 'https://login.microsoftonline.com',
  audience: 'https://management.azure.com',
  prices: 'https://prices.azure.com/api/retail/prices',
  registry: PUBLIC_REGISTRY,
  billingExtension: true,
};

const ENVIRONMENTS: readonly AzureEnvironment[] = [
  PUBLIC,
  {
    name: 'AzureChinaCloud',
    resourceManager: 'https://management.chinacloudapi.cn',
    directory: 'https://login.chinacloudapi.cn',
    audience: 'https://management.core.chinacloudapi.cn',
    prices: undefined,
    registry: 'mcr.azure.cn',
    billingExtension: true,
  },
  {
    name: 'AzureUSGovernmentCloud',
    resourceManager: 'https://management.usgovcloudapi.net',
    directory: 'https://login.microsoftonline.us',
    audience: 'https://management.core.usgovcloudapi.net',
    prices: undefined,
    registry: PUBLIC_REGISTRY,
    billingExtension: true,
  },
];

export const ENVIRONMENT_NAMES: readonly string[] = ENVIRONMENTS.map(({ name }) => name);

/** By name, in any letter case. */
export function environmentNamed(name: string): AzureEnvironment | undefined {
  return ENVIRONMENTS.find((each) => each.name.toLowerCase() === name.toLowerCase());
}

/** A cloud described by a file, such as an air-gapped one. */
export function customEnvironment(
  endpoints: Pick<AzureEnvironment, 'resourceManager' | 'directory' | 'audience'> & { readonly name?: string },
): AzureEnvironment {
  const { name = 'AzureStackCloud' } = endpoints;
  return { ...endpoints, name, prices: undefined, registry: PUBLIC_REGISTRY, billingExtension: false };
}

/** A cloud with all services, including prices, at one address and otherwise like the public one: the local world. */
export function environmentAt(endpoint: string): AzureEnvironment {
  const resourceManager = endpoint.replace(/\/$/, '');
  const prices = `${resourceManager}/api/retail/prices`;
  return { ...PUBLIC, resourceManager, directory: resourceManager, audience: resourceManager, prices };
}
