/** `nodewright snapshot save`: a cluster as a file, at one moment or over a time, for support and for replays. */
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { SystemClock } from '../clock/systemClock.ts';
import { systemRandom } from '../clock/systemRandom.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { messageOf, writeProblem } from '../errors/thrown.ts';
import { duration } from '../options/optionKinds.ts';
import type { Duration } from '../units/duration.ts';
import { regionOption } from './catalogueSource.ts';
import { clusterReader, withConnectionFlags, type ClusterFlags } from './clusterFlags.ts';
import { optionReader } from './optionReader.ts';
import { runUntilStopped } from './stopSignals.ts';

interface SaveFlags extends ClusterFlags {
  readonly hashNames?: true;
  readonly for?: Duration;
}

export function snapshotCommand(): Command {
  const save = withConnectionFlags(new Command('save'))
    .addOption(regionOption())
    .description(
      'Writes what the controller reads of a cluster to a file, without environment variables, commands, Secrets and unknown annotations. Only reads the cluster.',
    )
    .argument('[file]', 'where to write; - for standard output', '-')
    .option('--hash-names', 'replace names of nodes, pods, namespaces and workloads by hashes')
    .addOption(
      new Option('--for <duration>', 'go on for this long, or until Ctrl-C, and write every change too')
        .default(undefined, 'one moment')
        .argParser(optionReader(duration({ minimum: '1s' }))),
    )
    .action((file: string, flags: SaveFlags) => saveSnapshot(file, flags));
  return new Command('snapshot').description('Saves a cluster as a file.').addCommand(save);
}

async function saveSnapshot(file: string, flags: SaveFlags): Promise<void> {
  const [{ SNAPSHOT_KINDS, withoutSecretFields }, { recordCluster }] = await Promise.all([
    import('../rehearsal/snapshotFile.ts'),
    import('./compose/recordCluster.ts'),
  ]);
  const read = await clusterReader(flags, { kinds: SNAPSHOT_KINDS, keep: withoutSecretFields });
  const source = await read();
  const target = openTarget(file);
  const options = {
    kube: source.kube,
    clock: new SystemClock(),
    random: systemRandom,
    source,
    hashNames: flags.hashNames === true,
    // Line by line, so that what was written stays when the process ends early.
    write: target.write,
    onError: (error: unknown) => console.error(`nodewright: the cluster is not followed now: ${messageOf(error)}`),
  };
  try {
    const period = flags.for?.milliseconds;
    if (period === undefined) return await recordCluster(options);
    await runUntilStopped((stop) => recordCluster(options, endAfter(period, stop)));
  } finally {
    target.close();
  }
}

/**
 * Also ends with the other signal. Composed signals may be garbage-collected before they fire, so this one has its own
 * controller.
 */
function endAfter(milliseconds: number, stop: AbortSignal): AbortSignal {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), milliseconds);
  stop.addEventListener('abort', () => {
    clearTimeout(timer);
    end.abort(stop.reason);
  });
  return end.signal;
}

interface Target {
  readonly write: (line: string) => void;
  readonly close: () => void;
}

function openTarget(file: string): Target {
  // A pipe that is full makes the stream wait; a write to its descriptor would fail.
  if (file === '-') return { write: (line) => void process.stdout.write(line), close: () => undefined };
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (cause) {
      throw new NodewrightError(
        'FileUnwritable',
        { file, purpose: 'snapshot', problem: writeProblem(cause) },
        { cause },
      );
    }
  };
  const descriptor = attempt(() => openSync(file, 'w', 0o600));
  return {
    write: (line) => attempt(() => writeFileSync(descriptor, line)),
    close: () => closeSync(descriptor),
  };
}
