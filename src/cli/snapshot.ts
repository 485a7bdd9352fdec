/** `nodewright snapshot save`: a cluster as a file, for support and for replays. */
import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { regionOption } from './catalogueSource.ts';
import { clusterReader, withConnectionFlags, type ClusterFlags } from './clusterFlags.ts';

interface SaveFlags extends ClusterFlags {
  readonly hashNames?: true;
}

export function snapshotCommand(): Command {
  const save = withConnectionFlags(new Command('save'))
    .addOption(regionOption())
    .description(
      'Writes what the controller reads of a cluster to a file, without environment variables, commands, Secrets and unknown annotations. Only reads the cluster.',
    )
    .argument('[file]', 'where to write; - for standard output', '-')
    .option('--hash-names', 'replace names of nodes, pods, namespaces and workloads by hashes')
    .action((file: string, flags: SaveFlags) => saveSnapshot(file, flags));
  return new Command('snapshot').description('Saves a cluster as a file.').addCommand(save);
}

async function saveSnapshot(file: string, flags: SaveFlags): Promise<void> {
  const { SNAPSHOT_KINDS, formatSnapshot, withoutSecretFields } = await import('../rehearsal/snapshotFile.ts');
  const read = await clusterReader(flags, { kinds: SNAPSHOT_KINDS, keep: withoutSecretFields });
  const { objects } = await read();
  const text = formatSnapshot(objects, { hashNames: flags.hashNames === true });
  if (file === '-') process.stdout.write(text);
  else await writeFile(file, text, { mode: 0o600 });
}
