/** `nodewright replay`: what the controller decides about a cluster that was saved, the same on every machine. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Decisions } from '../rehearsal/decisionsOf.ts';
import { readManifests } from '../plan/readManifests.ts';
import { decisionsText } from '../ledger/decisionsText.ts';
import { clusterReader, outputOption, printed, type OutputFormat } from './clusterFlags.ts';
import { catalogueOption, regionOption } from './catalogueSource.ts';
import { readSources } from './readSources.ts';

interface ReplayFlags {
  readonly output: OutputFormat;
  readonly at?: number;
  readonly with: readonly string[];
  readonly catalog?: string;
  readonly region: string;
}

export function replayCommand(): Command {
  return new Command('replay')
    .description(
      'Says what the controller would decide about a cluster that `nodewright snapshot save` wrote: what it buys, what it refuses, which nodes go and why the others stay. The same file gives the same bytes on every machine.',
    )
    .argument('<file>', 'the snapshot')
    .addOption(new Option('--at <time>', 'as if it were this time (RFC 3339)').argParser(parseTime))
    .addOption(
      new Option('--with <file>', 'as if these manifests had been applied; may be repeated')
        .default([], 'none')
        .argParser((file, before: readonly string[]) => [...before, file]),
    )
    .addOption(catalogueOption())
    .addOption(regionOption())
    .addOption(outputOption())
    .action((file: string, flags: ReplayFlags) => replay(file, flags));
}

function parseTime(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidArgumentError('It is not a time such as 2026-01-31T12:00:00Z.');
  return time;
}

async function replay(file: string, { output, at, with: files, ...rest }: ReplayFlags): Promise<void> {
  const [{ rehearse }, { decisionsOf }, { applyManifests }] = await Promise.all([
    import('../rehearsal/rehearse.ts'),
    import('../rehearsal/decisionsOf.ts'),
    import('../rehearsal/applyManifests.ts'),
  ]);
  const read = await clusterReader({ ...rest, snapshot: file });
  const { objects, cloud } = await read();
  const then = { ...objects, time: at ?? objects.time };
  const changed =
    files.length === 0 ? { objects: then } : applyManifests(then, readManifests(await readSources(files)));
  const decisions: Decisions = decisionsOf(await rehearse({ ...changed, cloud }));
  process.stdout.write(printed(decisions, output, decisionsText));
}
