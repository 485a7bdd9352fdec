/** Flags shared by all commands that read a cluster. */
import { readFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import { printYaml } from '../api/yaml/printYaml.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { systemProblem } from '../errors/thrown.ts';
import { catalogueOption, readCatalogueFile, regionOption } from './catalogueSource.ts';
import type { ClusterSource, Connection, ReadingChoice } from './compose/clusterSource.ts';

export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly snapshot?: string;
  readonly catalog?: string;
  readonly region: string;
}

export type OutputFormat = 'table' | 'json' | 'yaml';

export function withClusterFlags(command: Command): Command {
  return withConnectionFlags(command)
    .addOption(snapshotOption())
    .addOption(catalogueOption())
    .addOption(regionOption());
}

export function withConnectionFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'how to reach the cluster; without it, as kubectl does')
    .option('--context <name>', 'context of the kubeconfig');
}

export function snapshotOption(): Option {
  return new Option(
    '--snapshot <file>',
    'look at a cluster that `nodewright snapshot save` wrote, not at a running one',
  ).conflicts(['kubeconfig', 'context', 'watch']);
}

export function outputOption(): Option {
  return new Option('-o, --output <format>', 'how to print').choices(['table', 'json', 'yaml']).default('table');
}

/** A cluster that was read, and its connection; a snapshot has none. */
export interface OpenedCluster extends ClusterSource {
  readonly connection?: Connection;
}

/** Reads the cluster named by the flags on each call; uses one connection. */
export async function clusterReader(
  flags: ClusterFlags,
  choice: ReadingChoice = {},
): Promise<(other?: ReadingChoice) => Promise<OpenedCluster>> {
  const { connect, readCluster, snapshotSource, progressOnStderr } = await import('./compose/clusterSource.ts');
  const instanceTypes = flags.catalog === undefined ? undefined : await readCatalogueFile(flags.catalog);
  const catalogue = { region: flags.region, ...(instanceTypes && { instanceTypes }) };
  const { snapshot } = flags;
  if (snapshot !== undefined) return async () => snapshotSource(snapshot, await readText(snapshot), catalogue);
  const connection = await connect(flags);
  return async (other = choice) => {
    const source = await readCluster(connection.kube, catalogue, { onProgress: progressOnStderr(), ...other });
    return { ...source, connection };
  };
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new NodewrightError(
      'FileUnreadable',
      { file, purpose: 'snapshot', problem: systemProblem(error) },
      { cause: error },
    );
  }
}

/** As JSON or YAML, or as the table made by `text`. */
export function printed<T extends object>(value: T, output: OutputFormat, text: (value: T) => string): string {
  if (output === 'json') return `${JSON.stringify(value, undefined, 2)}\n`;
  return output === 'yaml' ? printYaml(value) : text(value);
}
