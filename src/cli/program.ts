/** The verbs and how they are called. Only the requested verb is loaded, so that `--help` answers at once. */
import { Command, CommanderError } from 'commander';
import { buildInfo } from './buildInfo.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { describeThrown } from '../errors/thrown.ts';
import { ExitCode } from './exitCode.ts';
import { expectShortRun } from './shortRun.ts';

interface Verb {
  readonly name: string;
  readonly summary: string;
  /** Returns the command with its options and its action. */
  readonly load: () => Promise<Command>;
  /** Karpenter's flags may be written with one dash, as in Go programs. */
  readonly goFlags?: true;
  /** A short, compute-intensive command. */
  readonly isShort?: true;
}

const verbs: readonly Verb[] = [
  {
    name: 'up',
    summary: 'run a whole AKS with node auto provisioning on this machine',
    load: async () => (await import('./up.ts')).upCommand(),
  },
  {
    name: 'fault',
    summary: 'inject faults into the AKS that `up` runs',
    load: async () => (await import('./fault.ts')).faultCommand(),
  },
  {
    name: 'dashboard',
    summary: 'print the address of the dashboard that `up` serves',
    load: async () => (await import('./dashboard.ts')).dashboardCommand(),
  },
  {
    name: 'az',
    summary: 'run the Azure CLI against the Azure that `up` runs',
    load: async () => (await import('./az.ts')).azCommand(),
  },
  {
    name: 'run',
    summary: 'run the controller in a cluster',
    load: async () => (await import('./run.ts')).runCommand(),
    goFlags: true,
  },
  {
    name: 'kubelet-sim',
    summary: 'simulate the kubelets of kwok nodes on any cluster',
    load: async () => (await import('./kubeletSim.ts')).kubeletSimCommand(),
  },
  {
    name: 'plan',
    summary: 'show which nodes manifests would need, and what they cost',
    load: async () => (await import('./plan.ts')).planCommand(),
    isShort: true,
  },
  {
    name: 'explain',
    summary: 'say why a pod waits or a node stays, and what would change that',
    load: async () => (await import('./explain.ts')).explainCommand(),
  },
  {
    name: 'doctor',
    summary: 'look for the known traps of pools, budgets and workloads',
    load: async () => (await import('./doctor.ts')).doctorCommand(),
  },
  {
    name: 'cost',
    summary: 'say what the nodes cost, what for, and what holds savings',
    load: async () => (await import('./cost.ts')).costCommand(),
  },
  {
    name: 'top',
    summary: 'show every node with its load, price and status, live',
    load: async () => (await import('./top.ts')).topCommand(),
  },
  {
    name: 'calendar',
    summary: 'say when nodes may be disrupted, and how many',
    load: async () => (await import('./calendar.ts')).calendarCommand(),
  },
  {
    name: 'snapshot',
    summary: 'save what the controller reads of a cluster as a file',
    load: async () => (await import('./snapshot.ts')).snapshotCommand(),
  },
  {
    name: 'replay',
    summary: 'say what the controller decides about a saved cluster',
    load: async () => (await import('./replay.ts')).replayCommand(),
  },
  {
    name: 'catalog',
    summary: 'print the instance types and prices that plans use',
    load: async () => (await import('./catalog.ts')).catalogCommand(),
  },
  {
    name: 'crds',
    summary: 'print the custom resource definitions',
    load: async () => (await import('./crds.ts')).crdsCommand(),
  },
  {
    name: 'aks',
    summary: 'bring nodewright into an AKS cluster, or take it out',
    load: async () => (await import('./aks.ts')).aksCommand(),
  },
  {
    name: 'convert',
    summary: 'turn NodePools of another cloud into those for Azure',
    load: async () => (await import('./convert.ts')).convertCommand(),
  },
  {
    name: 'migrate',
    summary: 'move a cluster here from another autoscaler or way to run',
    load: async () => (await import('./migrate.ts')).migrateCommand(),
  },
  {
    name: 'completion',
    summary: 'print a script that lets a shell complete commands',
    load: async () =>
      (await import('./completion.ts')).completionCommand(() => Promise.all(verbs.map((verb) => loadAlone(verb)))),
  },
  {
    name: 'version',
    summary: 'print version, commit and platform',
    load: async () => (await import('./version.ts')).versionCommand(),
  },
];

/** Completion does not complete itself: loading it would recurse. */
async function loadAlone({ name, load }: Verb): Promise<Command> {
  return name === 'completion' ? new Command(name) : load();
}

/** Codes that commander throws for help and version. */
const NOT_ERRORS: readonly string[] = ['commander.helpDisplayed', 'commander.help', 'commander.version'];

export async function runProgram(args: readonly string[]): Promise<number> {
  const verb = chosenVerb(args);
  if (verb?.isShort === true) expectShortRun();
  const program = await buildProgram(verb);
  try {
    if (['', 'help --help', 'help -h'].includes(args.join(' '))) program.outputHelp();
    else if (args[0] === 'help' && verb === undefined && ![undefined, 'help'].includes(args[1]))
      program.error(`error: unknown command '${args[1]}'`);
    else await program.parseAsync(verb?.goFlags === true ? args.map(doubleDash) : [...args], { from: 'user' });
    // A verb that runs another program returns its exit code.
    return typeof process.exitCode === 'number' ? process.exitCode : ExitCode.ok;
  } catch (error) {
    return reportFailure(error);
  }
}

async function buildProgram(chosen: Verb | undefined): Promise<Command> {
  const program = withHouseSettings(new Command('nodewright'))
    .description('Node auto provisioning for Azure Kubernetes Service: the cheapest nodes that run your pods.')
    .usage('<verb> [options]')
    // Arguments after a verb belong to it: `az` passes everything on.
    .enablePositionalOptions()
    .version(buildInfo().version, '-V, --version', 'print the version')
    .commandsGroup('Verbs:')
    .helpCommand('help [verb]', 'show the help of a verb');
  for (const verb of verbs) {
    const command = verb === chosen ? await verb.load() : new Command(verb.name);
    program.addCommand(withHouseSettings(command).summary(verb.summary));
  }
  return program;
}

/** A usage error is one line and exit code 2, for a verb and its subcommands. */
function withHouseSettings(command: Command): Command {
  for (const subcommand of command.commands) withHouseSettings(subcommand);
  return command
    .helpOption('-h, --help', 'show this help')
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => {
        const usage = new NodewrightError('InvalidUsage', { problem: oneLine(text), command: pathOf(command) });
        write(`nodewright: ${describeThrown(usage)}\n`);
      },
    });
}

/** As it is typed: `nodewright catalog export`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** The first word that is not an option, or the one after `help`. */
function chosenVerb(args: readonly string[]): Verb | undefined {
  const words = args.filter((argument) => !argument.startsWith('-'));
  const name = words[0] === 'help' ? words[1] : words[0];
  return verbs.find((verb) => verb.name === name);
}

function doubleDash(argument: string): string {
  return /^-[a-z]{2,}(-[a-z]+)*(=|$)/.test(argument) ? `-${argument}` : argument;
}

function oneLine(text: string): string {
  return text
    .replace(/^error: /, '')
    .trim()
    .replace(/\.$/, '')
    .split(/\s*\n\s*/)
    .join(' ');
}

function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) return NOT_ERRORS.includes(error.code) ? ExitCode.ok : ExitCode.usage;
  console.error(`nodewright: ${describeThrown(error)}`);
  if (process.env['LOG_LEVEL'] === 'debug' && error instanceof Error) console.error(error.stack);
  return error instanceof NodewrightError ? ExitCode[error.exit] : ExitCode.failure;
}
