/** `nodewright calendar`: when nodes may be disrupted, how many, and which ones expire. */
import { Command, Option } from 'commander';
import { calendarText } from '../ledger/calendarText.ts';
import { duration } from '../options/optionKinds.ts';
import type { Duration } from '../units/duration.ts';
import {
  clusterReader,
  outputOption,
  printed,
  withClusterFlags,
  type ClusterFlags,
  type OutputFormat,
} from './clusterFlags.ts';
import { optionReader } from './optionReader.ts';

interface CalendarFlags extends ClusterFlags {
  readonly output: OutputFormat;
  readonly for?: Duration;
}

const WEEK = 7 * 24 * 3_600_000;

export function calendarCommand(): Command {
  return withClusterFlags(new Command('calendar'))
    .description(
      'Says how many nodes of each NodePool may be disrupted at once, when budgets and their windows change that, and which nodes reach their age. Only reads the cluster.',
    )
    .addOption(outputOption())
    .addOption(
      new Option('--for <duration>', 'how far to look ahead')
        .default(undefined, '168h')
        .argParser(optionReader(duration({ minimum: '1m' }))),
    )
    .action((flags: CalendarFlags) => calendar(flags));
}

async function calendar(flags: CalendarFlags): Promise<void> {
  const [{ rehearse }, { calendarOf }] = await Promise.all([
    import('../rehearsal/rehearse.ts'),
    import('../disruption/calendar.ts'),
  ]);
  const read = await clusterReader(flags);
  const { objects, cloud } = await read();
  const { world, moment } = await rehearse({ objects, cloud });
  const value = calendarOf({
    pools: world.informers.nodePools.store.list(),
    views: moment.snapshot.nodes,
    from: objects.time,
    until: objects.time + (flags.for?.milliseconds ?? WEEK),
  });
  process.stdout.write(printed(value, flags.output, calendarText));
}
