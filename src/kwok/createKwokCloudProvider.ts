import { readFile } from 'node:fs/promises';
import type { InstanceType } from '../cloud/instanceType.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { messageOf, systemProblem } from '../errors/thrown.ts';
import { KwokCloudProvider, type KwokCloudProviderOptions } from './cloudProvider.ts';
import { defaultCatalogue } from './defaultCatalogue.ts';
import { parseInstanceTypes } from './instanceTypeFile.ts';

export interface CreateKwokOptions extends Omit<KwokCloudProviderOptions, 'instanceTypes'> {
  /** Path of an instance-type file; absent: the built-in catalogue. */
  readonly instanceTypesFile?: string;
}

export async function createKwokCloudProvider({
  instanceTypesFile,
  ...options
}: CreateKwokOptions): Promise<KwokCloudProvider> {
  const instanceTypes = instanceTypesFile ? await readInstanceTypes(instanceTypesFile) : defaultCatalogue();
  return new KwokCloudProvider({ ...options, instanceTypes });
}

const PURPOSE = 'instance-type file';

async function readInstanceTypes(file: string): Promise<readonly InstanceType[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new NodewrightError('FileUnreadable', { file, purpose: PURPOSE, problem: systemProblem(cause) }, { cause });
  });
  try {
    return parseInstanceTypes(text);
  } catch (cause) {
    throw new NodewrightError('FileInvalid', { file, purpose: PURPOSE, problems: [messageOf(cause)] }, { cause });
  }
}
