/** `nodewright explain`: why a pod waits or a node is there, and the smallest change that would flip it. */
import { createInterface } from 'node:readline/promises';
import { Command, Option } from 'commander';
import { printYaml } from '../api/yaml/printYaml.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import type { Explanation } from '../ledger/explanation.ts';
import { explanationText } from '../ledger/explanationText.ts';
import { readCatalogueFile, regionOption } from './catalogueSource.ts';

interface ExplainFlags {
  readonly namespace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly catalog?: string;
  readonly region: string;
  readonly output: 'table' | 'json' | 'yaml';
  readonly apply?: true;
  readonly yes?: true;
}

export function explainCommand(): Command {
  const pod = withFlags(new Command('pod'))
    .description('Says why a pod waits, or where it goes.')
    .argument('<name>', 'name of the pod')
    .addOption(new Option('-n, --namespace <namespace>', "namespace of the pod; without it, the kubeconfig's"))
    .action((name: string, flags: ExplainFlags) => explain(name, flags));
  return new Command('explain')
    .description(
      'Names the one constraint that decides, the evidence, and the smallest change that would flip it. Only reads the cluster.',
    )
    .addCommand(pod);
}

function withFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'how to reach the cluster; without it, as kubectl does')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--catalog <file>', 'instance types and prices, as `nodewright catalog export` writes them')
    .addOption(regionOption())
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['table', 'json', 'yaml']).default('table'))
    .option('--apply', 'apply the first fix, after asking')
    .option('-y, --yes', 'apply without asking');
}

async function explain(name: string, flags: ExplainFlags): Promise<void> {
  const { connect, explainPodOf, applyFix } = await import('./compose/explainCluster.ts');
  const cluster = await connect(flags);
  const instanceTypes = flags.catalog === undefined ? undefined : await readCatalogueFile(flags.catalog);
  const catalogue = { region: flags.region, ...(instanceTypes && { instanceTypes }) };
  const explanation = await explainPodOf(cluster, { name, namespace: flags.namespace ?? cluster.namespace }, catalogue);
  process.stdout.write(print(explanation, flags.output));
  if (flags.apply !== true) return;
  const [fix] = explanation.fixes;
  if (fix === undefined) throw new NodewrightError('NothingToApply', {});
  if (flags.yes !== true && !(await isConfirmed(fix.sentence))) return;
  for (const applied of await applyFix(cluster.kube, fix)) console.error(applied);
}

function print(explanation: Explanation, output: ExplainFlags['output']): string {
  if (output === 'json') return `${JSON.stringify(explanation, undefined, 2)}\n`;
  if (output === 'yaml') return printYaml(explanation);
  return explanationText(explanation);
}

async function isConfirmed(sentence: string): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await prompt.question(`${sentence}? [y/N] `)).trim());
  } finally {
    prompt.close();
  }
}
