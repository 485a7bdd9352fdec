/** `nodewright doctor`: looks for known problems of pools, budgets, workloads, rights and quota. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { NodewrightError } from '../errors/nodewrightError.ts';
import type { Finding, Severity } from '../ledger/finding.ts';
import { findingsText } from '../ledger/findingText.ts';
import type { Surroundings } from '../rehearsal/checkup.ts';
import {
  clusterReader,
  outputOption,
  printed,
  withClusterFlags,
  type ClusterFlags,
  type OpenedCluster,
  type OutputFormat,
} from './clusterFlags.ts';
import { printWatched, watchOption } from './watched.ts';

type AccountFlag = 'auto' | 'none' | 'self' | { readonly namespace: string; readonly name: string };

interface DoctorFlags extends ClusterFlags {
  readonly output: OutputFormat;
  readonly watch?: true;
  readonly failOn: Severity | 'never';
  readonly account: AccountFlag;
  readonly azure?: true;
  readonly stateDir?: string;
}

const RANKS: Readonly<Record<DoctorFlags['failOn'], number>> = { never: 0, error: 1, warning: 2, info: 3 };

export function doctorCommand(): Command {
  return withClusterFlags(new Command('doctor'))
    .description(
      'Looks for the known traps of NodePools, PodDisruptionBudgets, workloads, rights and quota. Changes nothing.',
    )
    .addOption(outputOption())
    .addOption(watchOption())
    .addOption(
      new Option('--fail-on <severity>', 'exit with 1 for findings of this severity and worse')
        .choices(['error', 'warning', 'info', 'never'])
        .default('error'),
    )
    .addOption(
      new Option(
        '--account <account>',
        'whose rights to look at: namespace/name of a service account, self, none, or auto for that of the controller',
      )
        .default('auto')
        .argParser(parseAccount)
        .conflicts('snapshot'),
    )
    .option('--azure', "also ask Azure what is used of the region's quota, with the credentials that `run` would find")
    .option('--state-dir <path>', 'ask the Azure of this local world')
    .action((flags: DoctorFlags) => doctor(flags));
}

function parseAccount(text: string): AccountFlag {
  if (text === 'auto' || text === 'none' || text === 'self') return text;
  const [namespace = '', name = '', ...rest] = text.split('/');
  if (namespace === '' || name === '' || rest.length > 0) {
    throw new InvalidArgumentError('Allowed are auto, none, self and namespace/name.');
  }
  return { namespace, name };
}

async function doctor(flags: DoctorFlags): Promise<void> {
  const [{ rehearse }, { checkup }] = await Promise.all([
    import('../rehearsal/rehearse.ts'),
    import('../rehearsal/checkup.ts'),
  ]);
  const read = await clusterReader(flags);
  let findings: readonly Finding[] = [];
  await printWatched(async () => {
    const opened = await read();
    const { objects, cloud, kube } = opened;
    const rehearsal = await rehearse({ objects, cloud });
    findings = await checkup(rehearsal, { cloud }, kube, await surroundingsOf(flags, opened));
    return printed({ findings }, flags.output, () => findingsText(findings));
  }, flags.watch === true);
  const bad = findings.filter((each) => isAsBad(each, flags.failOn)).length;
  if (bad > 0) throw new NodewrightError('TrapsFound', { findings: bad, severity: flags.failOn });
}

const isAsBad = ({ severity }: Finding, failOn: DoctorFlags['failOn']): boolean => RANKS[severity] <= RANKS[failOn];

/** A snapshot has no data about rights. */
async function surroundingsOf(flags: DoctorFlags, opened: OpenedCluster): Promise<Surroundings> {
  const { account, stateDir } = flags;
  const { connection, objects } = opened;
  const wantsQuota = flags.azure === true || stateDir !== undefined;
  const quota = wantsQuota ? await (await import('./compose/quotaUse.ts')).quotaUse(objects, stateDir) : undefined;
  if (connection === undefined || account === 'none') return { quota };
  if (account !== 'auto') return { account, quota };
  const { controllerAccount } = await import('../rehearsal/rightsFindings.ts');
  return { account: await controllerAccount(connection.kube), quota };
}
