/** `nodewright explain`: why a pod waits or a node exists, and the smallest change of that. */
import { createInterface } from 'node:readline/promises';
import { Command, Option } from 'commander';
import { SystemClock } from '../clock/systemClock.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { printYaml } from '../api/yaml/printYaml.ts';
import type { Explanation } from '../ledger/explanation.ts';
import { explanationText } from '../ledger/explanationText.ts';
import {
  clusterReader,
  outputOption,
  printed,
  withClusterFlags,
  type ClusterFlags,
  type OutputFormat,
} from './clusterFlags.ts';
import type { Connection } from './compose/clusterSource.ts';
import { withNeeds } from './flagRules.ts';
import { printWatched, watchOption } from './watched.ts';

interface ExplainFlags extends ClusterFlags {
  readonly namespace?: string;
  readonly output: OutputFormat | 'apply';
  readonly watch?: true;
  readonly apply?: true;
  readonly yes?: true;
}

const SUBJECTS = {
  pod: 'Says why a pod waits, or where it goes.',
  node: 'Explains why a node was bought, why it is kept, what it costs, and what would allow its removal.',
  nodeclaim: 'The same as for a node, by the name of its NodeClaim.',
  nodepool: 'Says what a NodePool cannot do, or what its nodes cost and what holds the savings.',
} as const;

/** Milliseconds between two patches of one object, so that its controller sees both. */
const STEP = 2_000;

type SubjectKind = keyof typeof SUBJECTS;

export function explainCommand(): Command {
  const command = new Command('explain').description(
    'Names the one constraint that decides, the evidence, and the smallest change that would flip it. Only reads the cluster, unless --apply is given.',
  );
  for (const kind of Object.keys(SUBJECTS) as SubjectKind[]) command.addCommand(subjectCommand(kind));
  return command;
}

function subjectCommand(kind: SubjectKind): Command {
  const command = withNeeds(withClusterFlags(new Command(kind)), { yes: ['--apply'] })
    .description(SUBJECTS[kind])
    .argument('<name>', `name of the ${kind}`);
  if (kind === 'pod') {
    command.addOption(new Option('-n, --namespace <namespace>', "namespace of the pod; without it, the kubeconfig's"));
  }
  return command
    .addOption(outputOption().choices(['table', 'json', 'yaml', 'apply']))
    .addOption(watchOption().conflicts('apply'))
    .addOption(new Option('--apply', 'apply the first fix, after asking').conflicts('snapshot'))
    .option('-y, --yes', 'with --apply: apply without asking')
    .action((name: string, flags: ExplainFlags) => explain(kind, name, flags));
}

async function explain(kind: SubjectKind, name: string, flags: ExplainFlags): Promise<void> {
  const { explainIn, applyFix, fixManifests } = await import('./compose/explainCluster.ts');
  const read = await clusterReader(flags);
  let fixes: Explanation['fixes'] = [];
  let connection: Connection | undefined;
  await printWatched(async () => {
    const cluster = await read();
    ({ connection } = cluster);
    const namespace = flags.namespace ?? connection?.namespace ?? 'default';
    const explanation = await explainIn(cluster, kind === 'pod' ? { kind, name, namespace } : { kind, name });
    ({ fixes } = explanation);
    if (flags.output === 'apply') {
      return (await fixManifests(cluster.kube, explanation)).map((each) => `---\n${printYaml(each)}`).join('');
    }
    return printed(explanation, flags.output, explanationText);
  }, flags.watch === true);
  if (flags.apply !== true) return;
  const fix = fixes.find(({ patches }) => patches.length > 0);
  if (fix === undefined || connection === undefined) throw new NodewrightError('NothingToApply', {});
  if (flags.yes !== true && !(await isConfirmed(fix.sentence))) {
    console.error('nothing was changed');
    return;
  }
  const pause = (): Promise<void> => new SystemClock().sleep(STEP);
  for (const applied of await applyFix(connection.kube, fix, pause)) console.error(applied);
}

async function isConfirmed(sentence: string): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const silence = new Promise<undefined>((resolve) => prompt.once('close', () => resolve(undefined)));
    const answer = await Promise.race([prompt.question(`${sentence}? [y/N] `), silence]);
    if (answer === undefined) {
      process.stderr.write('\n');
      throw new NodewrightError('NotConfirmed', {});
    }
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}
