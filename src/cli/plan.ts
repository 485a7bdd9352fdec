/**
 * `nodewright plan`: plans nodes for manifests without a cluster. Writes the plan to standard output and mistakes in
 * the input to standard error; the exit code is for pipelines.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { printYaml } from '../api/yaml/printYaml.ts';
import { coreOptions } from '../options/coreOptions.ts';
import type { ChangeReport } from '../ledger/changeReport.ts';
import type { ClusterObjects } from '../rehearsal/clusterObjects.ts';
import { changeReportText, quotaUnknownText, costIncreaseText } from '../ledger/changeReportText.ts';
import { planNoteText } from '../ledger/planNoteText.ts';
import { mistakesText, tooDearText, unplacedText } from '../ledger/planText.ts';
import { planProblem } from '../plan/planProblem.ts';
import { planReport, type PlanReport } from '../plan/planReport.ts';
import { planTable } from '../plan/planTable.ts';
import { readManifests } from '../plan/readManifests.ts';
import { solve } from '../solver/solve.ts';
import { catalogueOption, readCatalogueFile, regionOption } from './catalogueSource.ts';
import { clusterReader, printed, snapshotOption } from './clusterFlags.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { withNeeds, type FlagNeeds } from './flagRules.ts';
import { optionReader } from './optionReader.ts';
import { readSources } from './readSources.ts';

interface PlanOptions {
  readonly filename?: readonly string[];
  readonly nodepools?: readonly string[];
  readonly catalog?: string;
  readonly region: string;
  readonly output: 'table' | 'json' | 'yaml';
  readonly explain: boolean;
  readonly strict: boolean;
  readonly failOn: readonly FailCondition[];
  readonly preferencePolicy: 'Respect' | 'Ignore';
  readonly nodeOverheadCost: number;
  readonly maxPodsSharePerNode: number;
  /** Plan a change of a cluster, not a new one. */
  readonly live?: true;
  readonly snapshot?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly maxCostIncrease?: number;
  readonly azure?: true;
  readonly stateDir?: string;
}

type FailCondition = { readonly kind: 'unschedulable' } | { readonly kind: 'cost-above'; readonly dollars: number };

const HELP = `
Exit codes:
  0  the plan is made, and no --fail-on condition holds
  1  a --fail-on condition holds, or some of the input is wrong (the rest is planned all the same)
  2  wrong usage

Examples:
  nodewright plan -f deploy/
  helm template shop ./chart | nodewright plan -f - --region westeurope
  nodewright plan -f new-nodepool.yaml --live --max-cost-increase 5%
  nodewright plan -f deploy/ --nodepools pools.yaml -o json --fail-on unschedulable --fail-on cost-above=4.50`;

export function planCommand(): Command {
  return withNeeds(new Command('plan'), NEEDS)
    .description(
      'Prints the nodes that would be bought for the pods of these manifests, and what they cost. Works offline. Reads ' +
        'Pods, Deployments, StatefulSets, ReplicaSets, DaemonSets, Jobs, CronJobs, NodePools and AKSNodeClasses.',
    )
    .option('-f, --filename <path...>', 'manifests: files, folders, or - for standard input')
    .option('--nodepools <path...>', "NodePools and AKSNodeClasses; without any, AKS's default pool")
    .addOption(catalogueOption())
    .addOption(regionOption())
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['table', 'json', 'yaml']).default('table'))
    .option('--strict', 'treat kinds that a plan does not know as mistakes', false)
    .addOption(
      new Option('--explain', 'say why each instance type was chosen and what the lower bound leaves out')
        .default(false)
        .conflicts(OF_A_CLUSTER),
    )
    .addOption(
      new Option('--fail-on <condition>', 'end with 1 on `unschedulable` pods or a `cost-above=N` dollars per hour')
        .default([], 'never')
        .conflicts(OF_A_CLUSTER)
        .argParser((text, before: readonly FailCondition[]) => [...before, ...text.split(',').map(parseCondition)]),
    )
    .addOption(solverOption('preferencePolicy').choices(['Respect', 'Ignore']).default('Respect'))
    .addOption(solverOption('nodeOverheadCost').default(0).argParser(optionReader(coreOptions.nodeOverheadCost.kind)))
    .addOption(
      solverOption('maxPodsSharePerNode').default(1).argParser(optionReader(coreOptions.maxPodsSharePerNode.kind)),
    )
    .option('--live', 'plan a change of the cluster that kubectl is connected to')
    .addOption(snapshotOption().conflicts('live'))
    .option('--kubeconfig <file>', 'with --live: how to reach the cluster')
    .option('--context <name>', 'with --live: context of the kubeconfig')
    .addOption(
      new Option(
        '--max-cost-increase <percent>',
        'with --live or --snapshot: end with 1 when the cluster costs more than that',
      ).argParser(parsePercent),
    )
    .option(
      '--azure',
      'with --live or --snapshot: also ask Azure what is used of the quotas that the nodes count against',
    )
    .option('--state-dir <path>', 'with --live or --snapshot: ask the Azure of this local world')
    .addHelpText('after', HELP)
    .action((options: PlanOptions) => (isChange(options) ? planChange(options) : plan(options)));
}

/** A change is simulated with the settings of the cluster's own controller. */
const OF_A_CLUSTER = ['live', 'snapshot'];
const NEEDS: FlagNeeds = {
  kubeconfig: ['--live'],
  context: ['--live'],
  maxCostIncrease: ['--live', '--snapshot'],
  azure: ['--live', '--snapshot'],
  stateDir: ['--live', '--snapshot'],
};

const isChange = ({ live, snapshot }: PlanOptions): boolean => live === true || snapshot !== undefined;

function parsePercent(text: string): number {
  const [, amount] = /^(\d+(?:\.\d+)?)%?$/.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError('It is a percentage such as 5%.');
  return Number(amount);
}

/** Simulates the effect of the manifests on a cluster, to the end. */
async function planChange(options: PlanOptions): Promise<void> {
  const { filename = [], nodepools = [], output, maxCostIncrease, strict } = options;
  if (filename.length + nodepools.length === 0) throw new NodewrightError('NothingToPlan', {});
  const input = readManifests(await readSources([...filename, ...nodepools]));
  for (const { source, line, message } of input.mistakes) console.error(`${source}:${line}: ${message}`);
  for (const { source, line, message } of input.warnings) console.error(`${source}:${line}: warning: ${message}`);
  const [{ applyManifests }, { rehearseChange }] = await Promise.all([
    import('../rehearsal/applyManifests.ts'),
    import('../rehearsal/rehearseChange.ts'),
  ]);
  const read = await clusterReader(options);
  const { objects, cloud } = await read();
  const played = await rehearseChange(objects, applyManifests(objects, input), { cloud });
  const report = { ...played, quotas: await quotasOf(played.quotas, objects, options) };
  process.stdout.write(printed(report, output, changeReportText));
  const { before, after } = report;
  const increase =
    after.pricePerHour === before.pricePerHour ? 0 : (after.pricePerHour / before.pricePerHour - 1) * 100;
  const failures =
    maxCostIncrease !== undefined && increase > maxCostIncrease ? [costIncreaseText(increase, maxCostIncrease)] : [];
  endWith(failures, '--max-cost-increase', input.mistakes.length + (strict ? input.warnings.length : 0));
}

/** With their usage, if Azure is to be asked. */
async function quotasOf(
  shares: ChangeReport['quotas'],
  objects: ClusterObjects,
  { azure, stateDir }: PlanOptions,
): Promise<ChangeReport['quotas']> {
  if (azure !== true && stateDir === undefined) return shares;
  const [{ quotaUse }, { withQuotaUse }] = await Promise.all([
    import('./compose/quotaUse.ts'),
    import('../rehearsal/quotaShares.ts'),
  ]);
  const answer = await quotaUse(objects, stateDir);
  if (answer !== undefined && 'problem' in answer) console.error(quotaUnknownText(answer.problem));
  return answer !== undefined && 'uses' in answer ? withQuotaUse(shares, answer.uses) : shares;
}

/** The controller's definition of the option. */
function solverOption(name: 'preferencePolicy' | 'nodeOverheadCost' | 'maxPodsSharePerNode'): Option {
  const { flag, kind, help } = coreOptions[name];
  return new Option(`--${flag} <${kind.placeholder}>`, help).conflicts(OF_A_CLUSTER);
}

async function plan(options: PlanOptions): Promise<void> {
  const { filename = [], nodepools = [], catalog, region, output, explain } = options;
  if (filename.length === 0) throw new NodewrightError('NothingToPlan', {});
  const instanceTypes = catalog === undefined ? undefined : await readCatalogueFile(catalog);
  const input = readManifests(await readSources([...filename, ...nodepools]));
  for (const { source, line, message } of input.mistakes) console.error(`${source}:${line}: ${message}`);
  for (const { source, line, message } of input.warnings) console.error(`${source}:${line}: warning: ${message}`);
  const { problem, notes } = planProblem(input, { region, ...(instanceTypes === undefined ? {} : { instanceTypes }) });
  for (const note of notes) console.error(planNoteText(note));
  const started = performance.now();
  const { preferencePolicy, nodeOverheadCost, maxPodsSharePerNode } = options;
  const solution = solve(problem, {
    suggestChanges: true,
    explainChoices: explain,
    preferencePolicy,
    nodeOverheadCost,
    maxPodsSharePerNode,
    reservedCapacity: 'Fallback',
  });
  const report = planReport(solution, performance.now() - started, explain);
  process.stdout.write(print(report, output, explain));
  const failures = options.failOn.flatMap((condition) => failureOf(condition, report));
  endWith(failures, '--fail-on', input.mistakes.length + (options.strict ? input.warnings.length : 0));
}

/** `failures`: of the conditions that the option sets. */
function endWith(failures: readonly string[], option: string, mistakes: number): void {
  const all = mistakes > 0 ? [...failures, mistakesText(mistakes)] : failures;
  if (all.length > 0) {
    throw new NodewrightError('PlanChecksFailed', { failures: all, ...(failures.length > 0 && { option }) });
  }
}

function print(report: PlanReport, output: PlanOptions['output'], explain: boolean): string {
  if (output === 'table') return planTable(report, explain);
  if (output === 'json') return `${JSON.stringify(report, undefined, 2)}\n`;
  return printYaml(report);
}

function parseCondition(text: string): FailCondition {
  if (text === 'unschedulable') return { kind: 'unschedulable' };
  const [, amount] = /^cost-above=(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError('It is unschedulable or cost-above=N, N dollars per hour.');
  return { kind: 'cost-above', dollars: Number(amount) };
}

function failureOf(condition: FailCondition, report: PlanReport): string[] {
  if (condition.kind === 'unschedulable') {
    const { length } = report.unschedulable;
    return length === 0 ? [] : [unplacedText(length)];
  }
  const { dollars } = condition;
  return report.costPerHour <= dollars ? [] : [tooDearText(report.costPerHour, dollars)];
}
