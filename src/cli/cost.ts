/** `nodewright cost`: what the nodes cost, what for, and what holds savings. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { costText, type CostView } from '../ledger/costText.ts';
import {
  clusterReader,
  outputOption,
  printed,
  withClusterFlags,
  type ClusterFlags,
  type OutputFormat,
} from './clusterFlags.ts';
import { printWatched, watchOption } from './watched.ts';

interface CostFlags extends ClusterFlags {
  readonly output: OutputFormat;
  readonly watch?: true;
  readonly by: readonly CostView[];
  readonly label?: string;
}

const VIEWS: readonly CostView[] = ['pool', 'namespace', 'workload'];

export function costCommand(): Command {
  return withClusterFlags(new Command('cost'))
    .description(
      'Says what the nodes of NodePools cost per hour and month, by pool, namespace, workload and label, how much of that is idle, and what holds savings. Only reads the cluster.',
    )
    .addOption(outputOption())
    .addOption(watchOption())
    .addOption(
      new Option('--by <views>', 'tables to print: pool, namespace, workload, with commas between them')
        .default(['pool', 'namespace'], 'pool,namespace')
        .argParser(parseViews),
    )
    .option('--label <key>', 'also by the values of this pod label')
    .action((flags: CostFlags) => cost(flags));
}

function parseViews(text: string): readonly CostView[] {
  return text.split(',').map((word) => {
    const view = VIEWS.find((each) => each === word.trim());
    if (view === undefined) throw new InvalidArgumentError(`Allowed are ${VIEWS.join(', ')}.`);
    return view;
  });
}

async function cost(flags: CostFlags): Promise<void> {
  const [{ rehearse }, { costReportOf }] = await Promise.all([
    import('../rehearsal/rehearse.ts'),
    import('../rehearsal/costReportOf.ts'),
  ]);
  const read = await clusterReader(flags);
  const views: readonly CostView[] = flags.label === undefined ? flags.by : [...flags.by, 'label'];
  await printWatched(async () => {
    const { objects, cloud } = await read();
    const report = costReportOf(await rehearse({ objects, cloud }), flags.label);
    return printed(report, flags.output, () => costText(report, views));
  }, flags.watch === true);
}
