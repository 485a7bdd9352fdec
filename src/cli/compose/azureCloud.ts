/**
 * Which Azure `nodewright run` talks to. In: the options, and the file that describes an Azure without a name. Out: its
 * endpoints and a credential for it.
 */
import { readFile } from 'node:fs/promises';
import { DefaultAzureCredential } from '@azure/identity';
import type { TokenCredential } from '@azure/core-auth';
import type { Options } from '../../options/optionTable.ts';
import { UsageError } from '../exitCode.ts';

export interface AzureCloud {
  readonly endpoint: string;
  readonly credential: TokenCredential;
}

interface CloudEndpoints {
  readonly resourceManager: string;
  readonly directory: string;
}

/** By lower-case name, as ARM_CLOUD spells them. */
const CLOUDS: Readonly<Record<string, CloudEndpoints>> = {
  azurepubliccloud: { resourceManager: 'https://management.azure.com', directory: 'https://login.microsoftonline.com' },
  azurechinacloud: {
    resourceManager: 'https://management.chinacloudapi.cn',
    directory: 'https://login.chinacloudapi.cn',
  },
  azureusgovernmentcloud: {
    resourceManager: 'https://management.usgovcloudapi.net',
    directory: 'https://login.microsoftonline.us',
  },
};

export async function azureCloud({ armCloud, azureEnvironmentFilepath, tenantId }: Options): Promise<AzureCloud> {
  const endpoints = azureEnvironmentFilepath
    ? await readEnvironmentFile(azureEnvironmentFilepath)
    : CLOUDS[(armCloud ?? 'AzurePublicCloud').toLowerCase()];
  if (!endpoints) throw new UsageError(`ARM_CLOUD: "${armCloud}" is not an Azure that is known here`);
  const credential = new DefaultAzureCredential({
    authorityHost: endpoints.directory,
    ...(tenantId && { tenantId }),
    // A directory that Microsoft does not know cannot be looked up there.
    disableInstanceDiscovery: azureEnvironmentFilepath !== undefined,
  });
  return { endpoint: endpoints.resourceManager, credential };
}

async function readEnvironmentFile(path: string): Promise<CloudEndpoints> {
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  } catch (error) {
    throw new UsageError(`AZURE_ENVIRONMENT_FILEPATH: ${path} cannot be read as JSON: ${(error as Error).message}`);
  }
  const field = (name: string): string => {
    const value = parsed[name];
    if (typeof value === 'string' && value !== '') return value.replace(/\/$/, '');
    throw new UsageError(`AZURE_ENVIRONMENT_FILEPATH: ${path}: ${name} is missing; it must be an https address`);
  };
  return { resourceManager: field('resourceManagerEndpoint'), directory: field('activeDirectoryEndpoint') };
}
