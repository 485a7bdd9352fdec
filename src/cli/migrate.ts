/** `nodewright migrate`: ways from another autoscaler or another way to run, each with a preview. */
import { Command, Option } from 'commander';
import { isJsonObject } from '../api/schema/json.ts';
import { printYaml } from '../api/yaml/printYaml.ts';
import { changeText } from '../convert/change.ts';
import { convertAutoscaler } from '../convert/clusterAutoscaler.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { messageOf } from '../errors/thrown.ts';
import { carryOut, withChangeFlags, withClusterName, type AksFlags } from './aks.ts';
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
        .requiredOption('--image <image>', 'where your build of nodewright is: repository[:tag]')
        .action(fromKarpenter),
    )
    .addCommand(
      withChangeFlags(withClusterName(new Command('managed')))
        .description(
          'Hands a cluster with a Karpenter or nodewright of your own over to node auto-provisioning by AKS. Definitions, ' +
            'pools and nodes stay.',
        )
        .action(toManaged),
    );
}

type MigrationFlags = AksFlags & { readonly dryRun: boolean; readonly timeout: number };

async function fromKarpenter(flags: MigrationFlags & { readonly image: string }): Promise<void> {
  const { openAks, fromKarpenterSteps, enableOptions } = await import('./compose/aks.ts');
  const { image, timeout } = flags;
  const { context } = await openAks(flags);
  const options = enableOptions({ image, defaultNodePools: 'None', timeout });
  await carryOut(await fromKarpenterSteps(await context(), options), flags);
}

async function toManaged(flags: MigrationFlags): Promise<void> {
  const { openAks, toManagedSteps } = await import('./compose/aks.ts');
  const { context } = await openAks(flags);
  await carryOut(await toManagedSteps(await context()), flags);
}

const HELP = `
Examples:
  az aks show --resource-group shop --name shop -o json | nodewright migrate cluster-autoscaler -f - > pools.yaml
  nodewright migrate cluster-autoscaler -f cluster.json --side-by-side -o json`;

function autoscalerCommand(): Command {
  return new Command('cluster-autoscaler')
    .description(
      'Prints NodePools and AKSNodeClasses for the node pools that the cluster autoscaler scales, with its settings ' +
        'as disruption settings. What has no equivalent is listed on standard error.',
    )
    .requiredOption('-f, --filename <file>', 'the cluster as `az aks show -o json` prints it, or - for standard input')
    .option('--side-by-side', 'taint the new nodes, so that only pods move that tolerate them', false)
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['yaml', 'json']).default('yaml'))
    .addHelpText('after', HELP)
    .action(autoscaler);
}

interface AutoscalerFlags {
  readonly filename: string;
  readonly sideBySide: boolean;
  readonly output: 'yaml' | 'json';
}

async function autoscaler({ filename, sideBySide, output }: AutoscalerFlags): Promise<void> {
  const [file] = await readSources([filename]);
  const conversion = convertAutoscaler(parseCluster(filename, file?.text ?? ''), { sideBySide });
  if (output === 'json') process.stdout.write(`${JSON.stringify(conversion, undefined, 2)}\n`);
  else process.stdout.write(conversion.objects.map((object) => `---\n${printYaml(object)}`).join(''));
  for (const change of conversion.changes) console.error(changeText(change));
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
  if (!isJsonObject(json)) throw invalid('it is not what `az aks show -o json` prints');
  return json;
}
