/** The flags that all commands share which look at a cluster. */
import { Option, type Command } from 'commander';
import { printYaml } from '../api/yaml/printYaml.ts';
import { readCatalogueFile, regionOption } from './catalogueSource.ts';
import type { ClusterSource, Connection } from './compose/clusterSource.ts';

export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly catalog?: string;
  readonly region: string;
}

export type OutputFormat = 'table' | 'json' | 'yaml';

export function withClusterFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'how to reach the cluster; without it, as kubectl does')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--catalog <file>', 'instance types and prices, as `nodewright catalog export` writes them')
    .addOption(regionOption());
}

export function outputOption(): Option {
  return new Option('-o, --output <format>', 'how to print').choices(['table', 'json', 'yaml']).default('table');
}

/** A cluster that was read, and how to reach it again. */
export interface OpenedCluster extends ClusterSource {
  readonly connection: Connection;
}

/** Reads the cluster that the flags name. */
export async function openCluster(flags: ClusterFlags): Promise<OpenedCluster> {
  const { connect, readCluster, progressOnStderr } = await import('./compose/clusterSource.ts');
  const connection = await connect(flags);
  const instanceTypes = flags.catalog === undefined ? undefined : await readCatalogueFile(flags.catalog);
  const catalogue = { region: flags.region, ...(instanceTypes && { instanceTypes }) };
  const source = await readCluster(connection.kube, catalogue, { onProgress: progressOnStderr() });
  return { ...source, connection };
}

/** As JSON or YAML, or as the table that `text` makes. */
export function printed<T extends object>(value: T, output: OutputFormat, text: (value: T) => string): string {
  if (output === 'json') return `${JSON.stringify(value, undefined, 2)}\n`;
  return output === 'yaml' ? printYaml(value) : text(value);
}
