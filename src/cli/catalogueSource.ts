/** Which machines may be bought. In: `--catalog` and `--region`. Out: instance types, or a usage error that says why not. */
import { readFile } from 'node:fs/promises';
import { Option } from 'commander';
import { BUNDLED_REGIONS } from '../catalogue/bundledCatalogue.ts';
import { readCatalogue } from '../catalogue/catalogueFile.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { UsageError } from './exitCode.ts';

const SHOWN_PROBLEMS = 5;

export function regionOption(): Option {
  return new Option('--region <region>', 'whose sizes and list prices to use')
    .choices(BUNDLED_REGIONS)
    .default('eastus');
}

export async function readCatalogueFile(file: string): Promise<readonly InstanceType[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`the catalogue ${file} cannot be read: ${String(cause)}`, cause);
  });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`the catalogue ${file} is not JSON: ${String(cause)}`, cause);
  }
  const { instanceTypes, problems } = readCatalogue(json);
  if (problems.length > 0) {
    const more = problems.length > SHOWN_PROBLEMS ? `; and ${problems.length - SHOWN_PROBLEMS} more` : '';
    throw new UsageError(`the catalogue ${file} is wrong: ${problems.slice(0, SHOWN_PROBLEMS).join('; ')}${more}`);
  }
  if (instanceTypes.length === 0) throw new UsageError(`the catalogue ${file} is empty`);
  return instanceTypes;
}
