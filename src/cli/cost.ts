/** `nodewright cost`: what the nodes cost, for which pods, and what blocks savings. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { costText, type CostView } from '../ledger/costText.ts';
import type { Aggregate } from '../rehearsal/openCostOf.ts';
import { Duration } from '../units/duration.ts';
import {
  clusterReader,
  outputOption,
  printed,
  withClusterFlags,
  type ClusterFlags,
  type OutputFormat,
} from './clusterFlags.ts';
import { withNeeds, type FlagNeeds } from './flagRules.ts';
import { printWatched, watchOption } from './watched.ts';

interface CostFlags extends ClusterFlags {
  readonly output: OutputFormat | 'opencost';
  readonly watch?: true;
  readonly by: readonly CostView[];
  readonly label?: string;
  readonly aggregate: Aggregate;
  readonly window: Duration;
  readonly clusterName: string;
}

const VIEWS: readonly CostView[] = ['pool', 'namespace', 'workload'];

const NEEDS: FlagNeeds = {
  by: ['--output=table'],
  label: ['--output=table', '--output=json', '--output=yaml'],
  aggregate: ['--output=opencost'],
  window: ['--output=opencost'],
  clusterName: ['--output=opencost'],
};

export function costCommand(): Command {
  return withNeeds(withClusterFlags(new Command('cost')), NEEDS)
    .description(
      'Says what the nodes of NodePools cost per hour and month, by pool, namespace, workload and label, how much of that is idle, and what holds savings. Only reads the cluster.',
    )
    .addOption(outputOption().choices(['table', 'json', 'yaml', 'opencost']))
    .addOption(watchOption())
    .addOption(
      new Option('--by <views>', 'tables to print: pool, namespace, workload, with commas between them')
        .default(['pool', 'namespace'], 'pool,namespace')
        .argParser(parseViews),
    )
    .option('--label <key>', 'also by the values of this pod label')
    .addOption(
      new Option(
        '--aggregate <property>',
        'of -o opencost: cluster, node, namespace, controllerKind, controller, pod or label:<key>',
      )
        .default('namespace')
        .argParser(parseAggregate),
    )
    .addOption(
      new Option('--window <duration>', 'of -o opencost: the time before now that the costs are for')
        .default(Duration.parse('1h'), '1h')
        .argParser(parseWindow),
    )
    .option('--cluster-name <name>', 'of -o opencost: what the cluster is called there', 'default-cluster')
    .action((flags: CostFlags) => cost(flags));
}

function parseViews(text: string): readonly CostView[] {
  return text.split(',').map((word) => {
    const view = VIEWS.find((each) => each === word.trim());
    if (view === undefined) throw new InvalidArgumentError(`Allowed are ${VIEWS.join(', ')}.`);
    return view;
  });
}

const AGGREGATES: readonly Aggregate[] = ['cluster', 'node', 'namespace', 'controllerKind', 'controller', 'pod'];

function parseAggregate(text: string): Aggregate {
  const known = AGGREGATES.find((each) => each === text);
  if (known !== undefined) return known;
  const [, key] = /^label:(.+)$/.exec(text) ?? [];
  if (key === undefined) throw new InvalidArgumentError(`Allowed are ${AGGREGATES.join(', ')} and label:<key>.`);
  return `label:${key}`;
}

function parseWindow(text: string): Duration {
  const days = /^(\d+)d$/.exec(text)?.[1];
  const window = Duration.tryParse(days === undefined ? text : `${Number(days) * 24}h`);
  if (window === undefined || window.milliseconds <= 0) {
    throw new InvalidArgumentError('Allowed is a duration such as 30m, 12h or 7d.');
  }
  return window;
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
    const rehearsal = await rehearse({ objects, cloud });
    const { output, aggregate, window, clusterName } = flags;
    if (output === 'opencost') {
      const { openCostOf } = await import('../rehearsal/openCostOf.ts');
      const answer = openCostOf(rehearsal, { aggregate, window: window.milliseconds, cluster: clusterName });
      return printed(answer, 'json', () => '');
    }
    const report = costReportOf(rehearsal, flags.label);
    return printed(report, output, () => costText(report, views));
  }, flags.watch === true);
}
