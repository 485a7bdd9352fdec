/** The Azure cloud for `nodewright run`, and a credential for it: by name, or described by a file. */
import { readFile } from 'node:fs/promises';
import { DefaultAzureCredential } from '@azure/identity';
import type { TokenCredential } from '@azure/core-auth';
import {
  customEnvironment,
  ENVIRONMENT_NAMES,
  environmentNamed,
  type AzureEnvironment,
} from '../../azure/azureEnvironment.ts';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { systemProblem } from '../../errors/thrown.ts';

export interface AzureCloud {
  readonly environment: AzureEnvironment;
  readonly credential: TokenCredential;
}

const ENVIRONMENT_FILE = 'JSON file for AZURE_ENVIRONMENT_FILEPATH';

interface CloudSettings {
  readonly armCloud?: string | undefined;
  readonly azureEnvironmentFilepath?: string | undefined;
  readonly tenantId?: string | undefined;
}

export async function azureCloud(settings: CloudSettings): Promise<AzureCloud> {
  const { armCloud, azureEnvironmentFilepath, tenantId } = settings;
  const environment = azureEnvironmentFilepath
    ? await readEnvironmentFile(azureEnvironmentFilepath)
    : environmentNamed(armCloud ?? 'AzurePublicCloud');
  if (!environment) {
    throw new NodewrightError('UnknownAzureCloud', { name: armCloud ?? '', known: ENVIRONMENT_NAMES });
  }
  const credential = new DefaultAzureCredential({
    authorityHost: environment.directory,
    ...(tenantId && { tenantId }),
    // Microsoft's instance discovery does not know the directory of a custom cloud.
    disableInstanceDiscovery: azureEnvironmentFilepath !== undefined,
  });
  return { environment, credential };
}

async function readEnvironmentFile(path: string): Promise<AzureEnvironment> {
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
  const { name } = parsed;
  return customEnvironment({
    ...(typeof name === 'string' && name !== '' && { name }),
    resourceManager: field('resourceManagerEndpoint'),
    directory: field('activeDirectoryEndpoint'),
    audience: field('tokenAudience'),
  });
}
