/** `nodewright migrate`: migrations from another autoscaler or another way to run, each with a preview. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { isJsonObject } from '../api/schema/json.ts';
import { printYaml } from '../api/yaml/printYaml.ts';
import { changeText } from '../convert/change.ts';
import { convertAutoscaler } from '../convert/clusterAutoscaler.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { messageOf } from '../errors/thrown.ts';
import {
  carryOut,
  openForChange,
  poolOption,
  withChangeFlags,
  withClusterName,
  type AksFlags,
  type FixedPool,
  parseName,
} from './aks.ts';
import { readSources } from './readSources.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description(
      'Ways from another autoscaler, or from one way to run to another. Each shows with --dry-run what it does.',
    )
    .addCommand(autoscalerCommand())
    .addCommand(
      withChangeFlags(withClusterName(new Command('karpenter')))
        .description(
          'Replaces a self-hosted Karpenter by nodewright, in place: its settings, identity, pools, claims and nodes stay. ' +
            'When a step fails, Karpenter runs again.',
        )
        .requiredOption('--image <image>', 'where your build of nodewright is: repository[:tag]', parseName)
        .action(fromKarpenter),
    )
    .addCommand(
      withChangeFlags(withClusterName(new Command('managed')))
        .description(
          'Hands a cluster with a Karpenter or nodewright of your own over to node auto-provisioning by AKS. Definitions, ' +
            'pools and nodes stay.',
        )
        .action(toManaged),
    )
    .addCommand(
      withChangeFlags(withClusterName(new Command('self-hosted')))
        .description(
          'Replaces node auto-provisioning by AKS by a nodewright of your own. AKS allows it only when no node is left, so ' +
            'that every node is drained: it is refused where pods would lose data. Pools, classes and limits stay.',
        )
        .requiredOption('--image <image>', 'where your build of nodewright is: repository[:tag]', parseName)
        .addOption(poolOption())
        .option('--drain', 'delete NodeClaims, so that nodes drain whether or not their pods have another place', false)
        .option('--delete-emptydir-data', 'accept that pods lose what they keep in emptyDir volumes', false)
        .action(toSelfHosted),
    )
    .addCommand(
      withChangeFlags(withClusterName(new Command('agent-pools')))
        .description(
          'Scales the node pools of the cluster autoscaler down in waves. Each run is one wave, unless told otherwise: AKS ' +
            'drains its nodes, and the wave is over when their pods run elsewhere. When they find no place, the pool gets ' +
            'its nodes back. Given again, it goes on; --back takes the last wave back.',
        )
        .option(
          '--pool <name>',
          'a node pool to scale down; again for more (default: those with the autoscaler)',
          collect,
          [],
        )
        .addOption(new Option('--nodes <number>', 'nodes of one wave').default(1).argParser(parseCount))
        .addOption(new Option('--waves <number>', 'how many waves').default(1).argParser(parseCount))
        .addOption(new Option('--all', 'all waves').default(false).conflicts('waves'))
        .option('--back', 'scale up again, from the last wave on; with the first, the autoscaler is back', false)
        .action(agentPools),
    );
}

const collect = (name: string, names: readonly string[]): readonly string[] => [...names, name];

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new InvalidArgumentError('It is a whole number from 1 on.');
  return count;
}

type MigrationFlags = AksFlags & { readonly dryRun: boolean; readonly timeout: number };

async function fromKarpenter(flags: MigrationFlags & { readonly image: string }): Promise<void> {
  const { fromKarpenterSteps, enableOptions, openAks } = await import('./compose/aks.ts');
  const { image, timeout } = flags;
  // Nothing in Azure is changed, so pending operations there do not matter.
  const { context } = await openAks(flags);
  const options = enableOptions({ image, defaultNodePools: 'None', timeout });
  await carryOut(await fromKarpenterSteps(await context(), options), flags);
}

async function toManaged(flags: MigrationFlags): Promise<void> {
  const { toManagedSteps } = await import('./compose/aks.ts');
  const { context } = await openForChange(flags);
  await carryOut(await toManagedSteps(await context()), flags);
}

interface SelfHostedFlags extends MigrationFlags {
  readonly image: string;
  readonly addPool?: FixedPool;
  readonly drain: boolean;
  readonly deleteEmptydirData: boolean;
}

async function toSelfHosted(flags: SelfHostedFlags): Promise<void> {
  const { toSelfHostedSteps, enableOptions, chartObjects } = await import('./compose/aks.ts');
  const { image, timeout, addPool, drain, deleteEmptydirData } = flags;
  const { context } = await openForChange(flags);
  const steps = await toSelfHostedSteps(await context(), {
    enable: enableOptions({ image, defaultNodePools: 'None', timeout }),
    disable: { drain, timeout, objects: chartObjects(), ...(addPool && { fixedPool: addPool }) },
    deleteEmptyDirData: deleteEmptydirData,
  });
  await carryOut(steps, flags);
}

interface WaveFlags extends MigrationFlags {
  readonly pool: readonly string[];
  readonly nodes: number;
  readonly waves: number;
  readonly all: boolean;
  readonly back: boolean;
}

async function agentPools(flags: WaveFlags): Promise<void> {
  const { waveSteps, backSteps } = await import('./compose/aks.ts');
  const { pool, nodes, waves, all, back, timeout } = flags;
  const { context } = await openForChange(flags);
  const options = { pools: pool, nodesPerWave: nodes, waves: all ? Number.POSITIVE_INFINITY : waves, timeout };
  await carryOut(await (back ? backSteps : waveSteps)(await context(), options), flags);
}

const HELP = `
Examples:
  nodewright migrate cluster-autoscaler --resource-group shop --name shop > pools.yaml
  az aks show --resource-group shop --name shop -o json | nodewright migrate cluster-autoscaler -f - > pools.yaml
  nodewright migrate cluster-autoscaler -f cluster.json --side-by-side -o json`;

function autoscalerCommand(): Command {
  return new Command('cluster-autoscaler')
    .description(
      'Prints NodePools and AKSNodeClasses for the node pools that the cluster autoscaler scales, with its settings ' +
        'as disruption settings. What has no equivalent is listed on standard error.',
    )
    .addOption(
      new Option(
        '-f, --filename <file>',
        'the cluster as `az aks show -o json` prints it, or - for standard input',
      ).conflicts(['resourceGroup', 'name']),
    )
    .option('-g, --resource-group <group>', 'resource group of the cluster, to read it from Azure')
    .option('-n, --name <name>', 'name of the cluster')
    .option('--subscription <id>', 'subscription of the cluster; without it, AZURE_SUBSCRIPTION_ID')
    .option('--state-dir <path>', 'of a local world: look there instead of in Azure')
    .option('--side-by-side', 'taint the new nodes, so that only pods move that tolerate them', false)
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['yaml', 'json']).default('yaml'))
    .addHelpText('after', HELP)
    .action(autoscaler);
}

interface AutoscalerFlags extends Partial<Omit<AksFlags, 'output'>> {
  readonly filename?: string;
  readonly sideBySide: boolean;
  readonly output: 'yaml' | 'json';
}

async function autoscaler({ sideBySide, output, ...source }: AutoscalerFlags, command: Command): Promise<void> {
  const conversion = convertAutoscaler(await clusterFrom(source, command), { sideBySide });
  if (output === 'json') process.stdout.write(`${JSON.stringify(conversion, undefined, 2)}\n`);
  else process.stdout.write(conversion.objects.map((object) => `---\n${printYaml(object)}`).join(''));
  for (const change of conversion.changes) console.error(changeText(change));
}

/** From the file, or from Azure. */
async function clusterFrom(
  { filename, resourceGroup = '', name = '', ...where }: Omit<AutoscalerFlags, 'sideBySide' | 'output'>,
  command: Command,
): Promise<Record<string, unknown>> {
  if (filename !== undefined) {
    const [file] = await readSources([filename]);
    return parseCluster(filename, file?.text ?? '');
  }
  if (resourceGroup === '' || name === '') {
    return command.error('name a file with -f, or a cluster with --resource-group and --name');
  }
  const { openAks } = await import('./compose/aks.ts');
  const { readCluster } = await openAks({ resourceGroup, name, ...where });
  return { ...(await readCluster()) };
}

function parseCluster(file: string, text: string): Record<string, unknown> {
  const invalid = (problem: string, cause?: unknown): NodewrightError =>
    new NodewrightError('FileInvalid', { file, purpose: 'cluster', problems: [problem] }, { cause });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw invalid(`not JSON: ${messageOf(cause)}`, cause);
  }
  if (!isJsonObject(json) || !hasPools(json)) throw invalid('it is not what `az aks show -o json` prints');
  return json;
}

/** The Azure CLI prints a cluster's pools at the top level, ARM below `properties`. */
const hasPools = (cluster: Record<string, unknown>): boolean =>
  [cluster, cluster['properties']].some((part) => isJsonObject(part) && Array.isArray(part['agentPoolProfiles']));
