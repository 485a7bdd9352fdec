/** The instance types for a plan: `--catalog` and `--region`. */
import { readFile } from 'node:fs/promises';
import { Option } from 'commander';
import { BUNDLED_REGIONS } from '../catalogue/bundledCatalogue.ts';
import { readCatalogue } from '../catalogue/catalogueFile.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { messageOf, systemProblem } from '../errors/thrown.ts';

const PURPOSE = 'catalogue';

export function regionOption(): Option {
  return new Option('--region <region>', 'whose instance types and list prices to use')
    .choices(BUNDLED_REGIONS)
    .default('eastus');
}

/** A catalogue file is already for one region. */
export function catalogueOption(): Option {
  return new Option(
    '--catalog <file>',
    'instance types and prices, as `nodewright catalog export` writes them',
  ).conflicts('region');
}

export async function readCatalogueFile(file: string): Promise<readonly InstanceType[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new NodewrightError('FileUnreadable', { file, purpose: PURPOSE, problem: systemProblem(cause) }, { cause });
  });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new NodewrightError(
      'FileInvalid',
      { file, purpose: PURPOSE, problems: [`not JSON: ${messageOf(cause)}`] },
      { cause },
    );
  }
  const { instanceTypes, problems } = readCatalogue(json);
  if (problems.length > 0) throw new NodewrightError('FileInvalid', { file, purpose: PURPOSE, problems });
  if (instanceTypes.length === 0) {
    throw new NodewrightError('FileInvalid', { file, purpose: PURPOSE, problems: ['it has no instance types'] });
  }
  return instanceTypes;
}
