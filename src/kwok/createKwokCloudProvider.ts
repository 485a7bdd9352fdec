import { readFile } from 'node:fs/promises';
import { KwokCloudProvider, type KwokCloudProviderOptions } from './cloudProvider.ts';
import { defaultCatalogue } from './defaultCatalogue.ts';
import { parseInstanceTypes } from './instanceTypeFile.ts';

export interface CreateKwokOptions extends Omit<KwokCloudProviderOptions, 'instanceTypes'> {
  /** Path of an instance-type file; the built-in catalogue without one. */
  readonly instanceTypesFile?: string;
}

export async function createKwokCloudProvider({
  instanceTypesFile,
  ...options
}: CreateKwokOptions): Promise<KwokCloudProvider> {
  const instanceTypes = instanceTypesFile
    ? parseInstanceTypes(await readFile(instanceTypesFile, 'utf8'))
    : defaultCatalogue();
  return new KwokCloudProvider({ ...options, instanceTypes });
}
