/** `nodewright run`: the controller for a real cluster. All its options come from the options table. */
import { getHeapStatistics } from 'node:v8';
import { Command, Help, Option } from 'commander';
import type { OptionHelpRow } from '../options/optionText.ts';
import { optionHelpRows } from '../options/optionText.ts';
import { parseOptions } from '../options/parseOptions.ts';
import type { RunController } from './compose/contract.ts';
import { fitHeap, type HeapProcess } from './compose/heapLimit.ts';
import { runUntilStopped } from './stopSignals.ts';

const DEFAULT_WIDTH = 80;
const DESCRIPTION_INDENT = '        ';

export function runCommand(): Command {
  const command = new Command('run')
    .description(
      'Runs the controller: creates the cheapest nodes for pods that fit on no existing node, removes or replaces nodes that are empty, underused or drifted within the budgets of their NodePool, and removes nodes that have expired, never joined or lost their instance. A flag beats its environment variable.',
    )
    .allowExcessArguments(false)
    .configureHelp({ formatItem: (term, _width, description, help) => formatItem(term, description, help) });
  const rows = optionHelpRows();
  for (const row of rows) {
    if (row.flag !== undefined)
      command.addOption(new Option(`--${row.flag} ${row.placeholder}`, helpText(row)).helpGroup(`${row.group}:`));
  }
  return command
    .addHelpText('after', () => environmentHelp(rows))
    .action(async () => {
      const { options, warnings } = parseOptions({ flags: givenFlags(command), environment: process.env });
      fitHeap(options.memoryLimit, heapProcess());
      for (const warning of warnings) console.error(`nodewright: warning: ${warning}`);
      const controller = await import('./compose/runController.ts');
      const runController: RunController = controller.runController;
      await runUntilStopped((signal) => runController(options, signal));
    });
}

function heapProcess(): HeapProcess {
  const { execPath, execArgv, argv, env } = process;
  const replace: unknown = Reflect.get(process, 'execve');
  return {
    heapLimit: getHeapStatistics().heap_size_limit,
    execPath,
    execArgv,
    argv,
    environment: env,
    execve:
      typeof replace === 'function'
        ? (file, args) => void Reflect.apply(replace, process, [file, args, env])
        : undefined,
  };
}

/** Commander gives `true` for a switch without a value. */
function givenFlags(command: Command): Record<string, string> {
  const flags: Record<string, string> = {};
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (typeof value === 'string' || value === true) flags[option.name()] = String(value);
  }
  return flags;
}

function helpText(row: OptionHelpRow): string {
  return `${row.help}\n(${row.facts})`;
}

/** Descriptions are below the flags, which are too long to leave room beside them. */
function formatItem(term: string, description: string, help: Help): string {
  const width = (help.helpWidth ?? DEFAULT_WIDTH) - DESCRIPTION_INDENT.length;
  const lines = help.boxWrap(description, width).split('\n');
  return [`  ${term}`, ...lines.map((line) => `${DESCRIPTION_INDENT}${line}`)].join('\n');
}

function environmentHelp(rows: readonly OptionHelpRow[]): string {
  const help = new Help();
  help.prepareContext({ helpWidth: process.stdout.columns });
  const environmentOnly = rows.filter(({ flag }) => flag === undefined);
  const items = environmentOnly.map((row) => formatItem(row.env, helpText(row), help));
  return ['', 'From the environment only:', ...items].join('\n');
}
