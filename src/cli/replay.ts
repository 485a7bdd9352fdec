/** `nodewright replay`: the controller's decisions about a saved cluster, identical on every machine. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Decisions } from '../rehearsal/decisionsOf.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { duration } from '../options/optionKinds.ts';
import type { ClusterObjects } from '../rehearsal/clusterObjects.ts';
import { timestamp } from '../units/timestamp.ts';
import type { Duration } from '../units/duration.ts';
import { optionReader } from './optionReader.ts';
import { readManifests, type PlanInput } from '../plan/readManifests.ts';
import { decisionsText } from '../ledger/decisionsText.ts';
import { clusterReader, outputOption, printed, type OutputFormat } from './clusterFlags.ts';
import { catalogueOption, regionOption } from './catalogueSource.ts';
import { readSources } from './readSources.ts';

interface ReplayFlags {
  readonly output: OutputFormat;
  readonly at?: number;
  readonly every?: Duration;
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
    .addOption(
      new Option('--at <time>', 'stop at this time (RFC 3339) and say what is decided then').argParser(parseTime),
    )
    .addOption(
      new Option('--every <duration>', 'time between two moments of a recording')
        .default(undefined, '10m')
        .argParser(optionReader(duration({ minimum: '1s' })))
        .conflicts('at'),
    )
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

async function replay(file: string, { output, at, every, with: files, ...rest }: ReplayFlags): Promise<void> {
  const [{ rehearse }, { decisionsOf }, { applyManifests }, { endOf, statesAt }] = await Promise.all([
    import('../rehearsal/rehearse.ts'),
    import('../rehearsal/decisionsOf.ts'),
    import('../rehearsal/applyManifests.ts'),
    import('../rehearsal/recording.ts'),
  ]);
  const read = await clusterReader({ ...rest, snapshot: file });
  const { objects, cloud, recording = { start: objects, changes: [] } } = await read();
  const begin = recording.start.time;
  if (at !== undefined && at < begin) {
    throw new NodewrightError('BeforeRecording', { file, asked: timestamp(at), begin: timestamp(begin) });
  }
  const manifests = files.length === 0 ? undefined : await wholeManifests(files);
  const decide = async (then: ClusterObjects): Promise<Decisions> => {
    const changed = manifests === undefined ? { objects: then } : applyManifests(then, manifests);
    return decisionsOf(await rehearse({ ...changed, cloud }));
  };
  const end = endOf(recording);
  if (at !== undefined || end === begin) {
    const [then = objects] = statesAt(recording, [at ?? begin]);
    process.stdout.write(printed(await decide(then), output, decisionsText));
    return;
  }
  const moments: Decisions[] = [];
  const times = timesOf(begin, end, every?.milliseconds ?? TEN_MINUTES);
  for (const then of statesAt(recording, times)) moments.push(await decide(then));
  process.stdout.write(printed({ moments }, output, () => moments.map(decisionsText).join('\n')));
}

/** An answer to "and if these were applied" must not leave some of them out in silence. */
async function wholeManifests(files: readonly string[]): Promise<PlanInput> {
  const manifests = readManifests(await readSources(files));
  for (const { source, line, message } of manifests.warnings) console.error(`${source}:${line}: warning: ${message}`);
  const [first] = manifests.mistakes;
  if (first === undefined) return manifests;
  const problems = manifests.mistakes
    .filter(({ source }) => source === first.source)
    .map(({ line, message }) => `line ${line}: ${message}`);
  throw new NodewrightError('FileInvalid', { file: first.source, purpose: 'manifest', problems });
}

const TEN_MINUTES = 600_000;

/** From the first to the last moment, both included. */
function* timesOf(begin: number, end: number, step: number): Generator<number> {
  for (let time = begin; time < end; time += step) yield time;
  yield end;
}
