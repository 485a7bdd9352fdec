/** `nodewright aks`: installs nodewright in an AKS cluster, removes it, and shows its status. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { OpenedAks } from './compose/aks.ts';
import type { CheckResult } from '../aks/checks.ts';
import type { AksStatus } from '../aks/status.ts';
import type { Step, StepRecord } from '../aks/step.ts';
import { Duration } from '../units/duration.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { outputOption, printed, type OutputFormat } from './clusterFlags.ts';

export interface AksFlags {
  readonly resourceGroup: string;
  readonly name: string;
  readonly subscription?: string;
  readonly stateDir?: string;
  readonly kubeconfig?: string;
  readonly output: OutputFormat;
}

interface ChangeFlags extends AksFlags {
  readonly dryRun: boolean;
  readonly timeout: number;
}

interface EnableFlags extends ChangeFlags {
  readonly managed: boolean;
  readonly image?: string;
  readonly defaultPools: 'Auto' | 'None';
}

export interface FixedPool {
  readonly name: string;
  readonly count: number;
  readonly vmSize: string;
}

interface DisableFlags extends ChangeFlags {
  readonly drain: boolean;
  readonly keepIdentity: boolean;
  readonly addPool?: FixedPool;
}

const HELP = `
Examples:
  nodewright aks check --resource-group shop --name shop
  nodewright aks enable --resource-group shop --name shop --image registry.example.com/nodewright:0.1.0 --dry-run
  nodewright aks enable --resource-group shop --name shop --managed
  nodewright aks disable --resource-group shop --name shop --add-pool fixed=3xStandard_D4s_v5
  nodewright aks status --resource-group local --name local --state-dir .nodewright`;

export function aksCommand(): Command {
  return new Command('aks')
    .description('Brings nodewright into an AKS cluster, takes it out again, and says how it stands.')
    .addCommand(
      withClusterName(new Command('check'))
        .summary('look whether the cluster is fit for it')
        .description('Looks whether the cluster is fit for nodewright, and says what to do where it is not.')
        .option('--managed', "for AKS's own node auto-provisioning", false)
        .action(check),
    )
    .addCommand(
      withChangeFlags(withClusterName(new Command('enable')))
        .summary('install nodewright in the cluster')
        .description(
          'Installs nodewright: identity, federated credential, roles with the least rights, definitions, Deployment and ' +
            'default pools. What is there already stays; what fails is taken back.',
        )
        .option('--managed', "turn on AKS's own node auto-provisioning instead", false)
        .addOption(
          new Option('--image <image>', 'where your build of nodewright is: repository[:tag]')
            .argParser(parseName)
            .conflicts('managed'),
        )
        .addOption(
          new Option('--default-pools <pools>', 'whether to create default NodePools')
            .choices(['Auto', 'None'])
            .default('Auto'),
        )
        .action(enable),
    )
    .addCommand(
      withChangeFlags(withClusterName(new Command('disable')))
        .summary('take nodewright out of the cluster')
        .description(
          'Closes the NodePools, lets their nodes drain, waits until none is left, and removes nodewright. Definitions and ' +
            'NodePools stay. Given again, it goes on where it was.',
        )
        .addOption(poolOption())
        .option('--drain', 'delete NodeClaims, so that nodes drain whether or not their pods have another place', false)
        .option('--keep-identity', 'keep the identity in Azure and its roles', false)
        .action(disable),
    )
    .addCommand(
      withClusterName(new Command('status'))
        .summary('say how it runs in the cluster')
        .description('Says whether nodewright runs in the cluster, by whom, and how many nodes it has bought.')
        .action(status),
    )
    .addHelpText('after', HELP);
}

export function withClusterName(command: Command): Command {
  return command
    .requiredOption('-g, --resource-group <group>', 'resource group of the cluster', parseName)
    .requiredOption('-n, --name <name>', 'name of the cluster', parseName)
    .option('--subscription <id>', 'subscription of the cluster; without it, AZURE_SUBSCRIPTION_ID')
    .option('--state-dir <path>', 'of a local world: look there instead of in Azure')
    .option('--kubeconfig <file>', 'how to reach the cluster; without it, as Azure says')
    .addOption(outputOption());
}

export function withChangeFlags(command: Command): Command {
  return command
    .option('--dry-run', 'only say what would be done', false)
    .addOption(
      new Option('--timeout <duration>', 'how long to wait for pods and nodes')
        .default(30 * 60_000, '30m')
        .argParser(parseDuration),
    );
}

/** Parses a name; an unset shell variable gives an empty one. */
export function parseName(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It is empty.');
  return text;
}

function parseDuration(text: string): number {
  const duration = Duration.tryParse(text);
  if (duration === undefined) throw new InvalidArgumentError('It is a duration such as 10m.');
  return duration.milliseconds;
}

export function poolOption(): Option {
  return new Option('--add-pool <pool>', 'fixed nodes for the pods, such as fixed=3xStandard_D4s_v5').argParser(
    parsePool,
  );
}

function parsePool(text: string): FixedPool {
  const [, name = '', count = '', vmSize = ''] = /^([a-z][a-z0-9]{0,11})=(\d+)x(\w+)$/.exec(text) ?? [];
  if (name === '')
    throw new InvalidArgumentError('It is a name, a number of nodes and a size, such as fixed=3xStandard_D4s_v5.');
  return { name, count: Number(count), vmSize };
}

async function check({ managed, output, ...flags }: AksFlags & { readonly managed: boolean }): Promise<void> {
  const { openAks } = await import('./compose/aks.ts');
  const aks = await openAks(flags);
  const results = await aks.check(managed ? 'managed' : 'self-hosted');
  process.stdout.write(printed(results, output, checksText));
  failOn(results);
}

function failOn(results: readonly CheckResult[]): void {
  const problems = results.flatMap(({ state, problem = '' }) => (state === 'error' ? [problem] : []));
  if (problems.length > 0) throw new NodewrightError('ClusterUnfit', { problems });
}

/** A dry run changes nothing, so it need not wait. */
export async function openForChange(flags: ChangeFlags): Promise<OpenedAks> {
  const { openAks } = await import('./compose/aks.ts');
  const opened = await openAks(flags);
  if (!flags.dryRun) {
    await opened.settle(flags.timeout, (what, state) => console.error(`waiting: ${what} is ${state}`));
  }
  return opened;
}

async function enable(flags: EnableFlags): Promise<void> {
  const { enableSteps, managedSteps, enableOptions } = await import('./compose/aks.ts');
  const { managed, image, defaultPools, timeout } = flags;
  if (!managed && image === undefined) throw new NodewrightError('NoImage', {});
  const opened = await openForChange(flags);
  failOn(await opened.check(managed ? 'managed' : 'self-hosted'));
  const aks = await opened.context();
  const steps = managed
    ? managedSteps(aks, defaultPools)
    : await enableSteps(aks, enableOptions({ image: image ?? '', defaultNodePools: defaultPools, timeout }));
  await carryOut(steps, flags);
}

async function disable(flags: DisableFlags): Promise<void> {
  const { disableSteps, chartObjects } = await import('./compose/aks.ts');
  const { drain, keepIdentity, timeout, addPool, output } = flags;
  const { context } = await openForChange(flags);
  const steps = disableSteps(await context(), {
    drain,
    keepIdentity,
    timeout,
    objects: chartObjects(),
    ...(addPool && { fixedPool: addPool }),
    ...(output === 'table' && {
      onProgress: (nodes) => console.log(`  ${nodes.length} of its nodes left: ${nodes.slice(0, 5).join(', ')}`),
    }),
  });
  await carryOut(steps, flags);
}

/** A table is written line by line as steps end; JSON and YAML at the end, also for a failed run. */
export async function carryOut(
  steps: readonly Step[],
  { dryRun, output }: Pick<ChangeFlags, 'dryRun' | 'output'>,
): Promise<void> {
  const { runSteps } = await import('../aks/step.ts');
  const records: StepRecord[] = [];
  try {
    await runSteps(steps, {
      dryRun,
      onRecord: (record) => {
        records.push(record);
        if (output === 'table') console.log(stepText(record));
      },
    });
  } finally {
    if (output !== 'table') process.stdout.write(printed(records, output, () => ''));
  }
}

async function status({ output, ...flags }: AksFlags): Promise<void> {
  const { openAks, aksStatus } = await import('./compose/aks.ts');
  const { context } = await openAks(flags);
  process.stdout.write(printed(await aksStatus(await context()), output, statusText));
}

const stepText = ({ state, what, problem }: StepRecord): string =>
  `${state.padEnd(8)} ${what}${problem === undefined ? '' : `: ${problem}`}`;

function checksText(results: readonly CheckResult[]): string {
  const lines = results.map(({ name, state, problem, remedy }) =>
    problem === undefined ? `${state.padEnd(8)} ${name}` : `${state.padEnd(8)} ${name}: ${problem}; ${remedy ?? ''}`,
  );
  return `${lines.join('\n')}\n`;
}

function statusText({ cluster, kubernetesVersion, mode, image, isReady, pools, nodes }: AksStatus): string {
  const lines = [
    `cluster     ${cluster}, Kubernetes ${kubernetesVersion}`,
    `mode        ${mode}${mode === 'off' ? '' : isReady ? ', ready' : ', not ready'}`,
    ...(image === undefined ? [] : [`image       ${image}`]),
    `nodes       ${nodes}`,
    ...pools.map((pool) => `NodePool    ${pool.name}: ${pool.nodes} nodes${pool.isReady ? '' : ', not ready'}`),
  ];
  return `${lines.join('\n')}\n`;
}
