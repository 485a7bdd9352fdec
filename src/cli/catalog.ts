/** `nodewright catalog`: the instance types used by plans, as a file for editing, and what was learned from nodes. */
import { Command, Option } from 'commander';
import { printYaml } from '../api/yaml/printYaml.ts';
import { bundledInstanceTypes } from '../catalogue/bundledCatalogue.ts';
import { writeCatalogue } from '../catalogue/catalogueFile.ts';
import { regionOption } from './catalogueSource.ts';
import { outputOption, printed, withConnectionFlags, type OutputFormat } from './clusterFlags.ts';
import { learnedRooms, learnedTable } from './learnedRooms.ts';

export function catalogCommand(): Command {
  const exportCommand = new Command('export')
    .description(
      'Prints the bundled catalogue: every instance type for AKS nodes with labels, allocatable resources and prices.',
    )
    .addOption(regionOption())
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['json', 'yaml']).default('json'))
    .action(({ region, output }: { region: string; output: 'json' | 'yaml' }) => {
      const catalogue = writeCatalogue(bundledInstanceTypes({ region }));
      process.stdout.write(output === 'json' ? `${JSON.stringify(catalogue, undefined, 2)}\n` : printYaml(catalogue));
    });
  return new Command('catalog')
    .description('The instance types and prices that plans use.')
    .addCommand(exportCommand)
    .addCommand(learnedCommand());
}

function learnedCommand(): Command {
  return withConnectionFlags(new Command('learned'))
    .description('Shows what nodes of the cluster really offer to pods, beside what was expected of them.')
    .addOption(outputOption())
    .action(async ({ output, ...flags }: LearnedFlags) => {
      const { connect } = await import('./compose/clusterSource.ts');
      const { kube } = await connect(flags);
      process.stdout.write(printed(await learnedRooms(kube), output, learnedTable));
    });
}

interface LearnedFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output: OutputFormat;
}
