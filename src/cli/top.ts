/** `nodewright top`: all nodes on one screen, live. */
import { Command, Option } from 'commander';
import { Kinds } from '../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import type { NodeRow } from '../rehearsal/nodeRows.ts';
import {
  clusterReader,
  outputOption,
  printed,
  withClusterFlags,
  type ClusterFlags,
  type OutputFormat,
} from './clusterFlags.ts';
import { optionReader } from './optionReader.ts';
import { duration } from '../options/optionKinds.ts';
import type { Duration } from '../units/duration.ts';
import { COLUMNS, topScreen, type TopView } from './topScreen.ts';

interface TopFlags extends ClusterFlags {
  readonly output: OutputFormat;
  readonly sort: string;
  readonly reverse?: true;
  readonly filter: string;
  readonly interval?: Duration;
  readonly once?: true;
}

const KINDS: readonly ResourceKind<KubeObject>[] = [Kinds.Node, Kinds.Pod, Kinds.NodePool];

export function topCommand(): Command {
  return withClusterFlags(new Command('top'))
    .description(
      'Shows every node with what pods have asked for, its instance type, zone, price, age and status, and what all cost. Keys: s sorts by the next column, o by a column or label that you type, r turns the order round, / filters, arrows scroll, q ends.',
    )
    .addOption(outputOption())
    .option('--sort <column>', `column to sort by (${COLUMNS.join(', ')}), or a label`, 'name')
    .option('--reverse', 'largest first')
    .option('--filter <words>', 'only nodes that have all words in a cell, as column=text, or as label=value', '')
    .addOption(
      new Option('--interval <duration>', 'time between two looks at the cluster')
        .default(undefined, '5s')
        .argParser(optionReader(duration({ minimum: '1s' }))),
    )
    .addOption(
      new Option('--once', 'print once and end; so it does when the output is no terminal').conflicts('interval'),
    )
    .action((flags: TopFlags) => top(flags));
}

async function top(flags: TopFlags): Promise<void> {
  const read = await clusterReader(flags, { kinds: KINDS });
  const { nodeRows } = await import('../rehearsal/nodeRows.ts');
  const look = async (kinds: typeof KINDS = KINDS): Promise<readonly NodeRow[]> => {
    const { objects, cloud } = await read({ kinds });
    return nodeRows(objects, cloud);
  };
  const { sort, filter } = flags;
  const view: TopView = { sort, filter, reverse: flags.reverse === true, offset: 0 };
  if (flags.once === true || flags.output !== 'table' || !process.stdout.isTTY) {
    const nodes = await look();
    process.stdout.write(printed({ nodes }, flags.output, () => topScreen(nodes, view)));
    return;
  }
  const { runTop } = await import('./topTerminal.ts');
  const glance = (): Promise<readonly NodeRow[]> => look([Kinds.Node, Kinds.NodePool]);
  const interval = flags.interval?.milliseconds ?? 5_000;
  await runTop({ look: () => look(), view, interval, ...(flags.snapshot === undefined && { glance }) });
}
