/** `nodewright doctor`: looks for the known traps of pools, budgets and workloads. */
import { Command, Option } from 'commander';
import { NodewrightError } from '../errors/nodewrightError.ts';
import type { Finding, Severity } from '../ledger/finding.ts';
import { findingsText } from '../ledger/findingText.ts';
import {
  clusterReader,
  outputOption,
  printed,
  withClusterFlags,
  type ClusterFlags,
  type OutputFormat,
} from './clusterFlags.ts';
import { printWatched, watchOption } from './watched.ts';

interface DoctorFlags extends ClusterFlags {
  readonly output: OutputFormat;
  readonly watch?: true;
  readonly failOn: Severity | 'never';
}

const RANKS: Readonly<Record<DoctorFlags['failOn'], number>> = { never: 0, error: 1, warning: 2, info: 3 };

export function doctorCommand(): Command {
  return withClusterFlags(new Command('doctor'))
    .description('Looks for the known traps of NodePools, PodDisruptionBudgets and workloads. Only reads the cluster.')
    .addOption(outputOption())
    .addOption(watchOption())
    .addOption(
      new Option('--fail-on <severity>', 'exit with 1 for findings of this severity and worse')
        .choices(['error', 'warning', 'info', 'never'])
        .default('error'),
    )
    .action((flags: DoctorFlags) => doctor(flags));
}

async function doctor(flags: DoctorFlags): Promise<void> {
  const [{ rehearse }, { checkup }] = await Promise.all([
    import('../rehearsal/rehearse.ts'),
    import('../rehearsal/checkup.ts'),
  ]);
  const read = await clusterReader(flags);
  let findings: readonly Finding[] = [];
  await printWatched(async () => {
    const { objects, cloud, kube } = await read();
    findings = await checkup(await rehearse({ objects, cloud }), { cloud }, kube);
    return printed({ findings }, flags.output, () => findingsText(findings));
  }, flags.watch === true);
  const bad = findings.filter((each) => isAsBad(each, flags.failOn)).length;
  if (bad > 0) throw new NodewrightError('TrapsFound', { findings: bad, severity: flags.failOn });
}

const isAsBad = ({ severity }: Finding, failOn: DoctorFlags['failOn']): boolean => RANKS[severity] <= RANKS[failOn];
