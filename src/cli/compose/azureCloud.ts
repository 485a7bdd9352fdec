/** The Azure cloud that `nodewright run` talks to: its endpoint and a credential, by name or from a file. */
import { readFile } from 'node:fs/promises';
import { DefaultAzureCredential } from '@azure/identity';
import type { TokenCredential } from '@azure/core-auth';
import type { Options } from '../../options/optionTable.ts';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { systemProblem } from '../../errors/thrown.ts';

export interface AzureCloud {
  readonly endpoint: string;
  readonly credential: TokenCredential;
}

interface CloudEndpoints {
  readonly resourceManager: string;
  readonly directory: string;
}

const ENVIRONMENT_FILE = 'JSON file for AZURE_ENVIRONMENT_FILEPATH';

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
  if (!endpoints) {
    throw new NodewrightError('UnknownAzureCloud', { name: armCloud ?? '', known: Object.keys(CLOUDS) });
  }
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
    throw new NodewrightError(
      'FileUnreadable',
      { file: path, purpose: ENVIRONMENT_FILE, problem: systemProblem(error) },
      { cause: error },
    );
  }
  const field = (name: string): string => {
    const value = parsed[name];
    if (typeof value === 'string' && value !== '') return value.replace(/\/$/, '');
    const problems = [`${name} is missing; it must be an https address`];
    throw new NodewrightError('FileInvalid', { file: path, purpose: ENVIRONMENT_FILE, problems });
  };
  return { resourceManager: field('resourceManagerEndpoint'), directory: field('activeDirectoryEndpoint') };
}
