/** `nodewright convert`: converts NodePools and node classes of Karpenter on another cloud to Azure. */
import { Command, Option } from 'commander';
import { printYaml } from '../api/yaml/printYaml.ts';
import { changeText } from '../convert/change.ts';
import { convertManifests, type Conversion } from '../convert/convertManifests.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { parseManifests } from '../plan/manifestDocuments.ts';
import { regionOption } from './catalogueSource.ts';
import { readSources } from './readSources.ts';

interface ConvertOptions {
  readonly filename?: readonly string[];
  readonly region: string;
  readonly output: 'yaml' | 'json';
  readonly strict: boolean;
}

const HELP = `
Examples:
  nodewright convert -f eks/ --region westeurope > aks.yaml
  kubectl get nodepools,ec2nodeclasses -o yaml | nodewright convert -f - | kubectl apply --dry-run=server -f -`;

export function convertCommand(): Command {
  return new Command('convert')
    .description(
      'Prints NodePools and node classes of Karpenter on another cloud (v1beta1 or v1) as those for Azure. What was ' +
        'changed, and what has no equivalent, is listed on standard error. Other kinds are printed as they are.',
    )
    .option('-f, --filename <path...>', 'manifests: files, folders, or - for standard input')
    .addOption(regionOption())
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['yaml', 'json']).default('yaml'))
    .option('--strict', 'end with 1 when something has no equivalent', false)
    .addHelpText('after', HELP)
    .action(convert);
}

async function convert({ filename = [], region, output, strict }: ConvertOptions): Promise<void> {
  if (filename.length === 0) throw new NodewrightError('NothingToConvert', {});
  const parsed = (await readSources(filename)).map(({ source, text }) => parseManifests(source, text));
  const mistakes = parsed.flatMap((file) => file.mistakes);
  for (const { source, line, message } of mistakes) console.error(`${source}:${line}: ${message}`);
  const conversion = convertManifests(
    parsed.flatMap(({ manifests }) => manifests.map(({ object }) => object)),
    { region },
  );
  process.stdout.write(output === 'json' ? `${JSON.stringify(conversion, undefined, 2)}\n` : asYaml(conversion));
  for (const change of conversion.changes) console.error(changeText(change));
  const lost = conversion.changes.filter(({ outcome }) => outcome !== 'changed').length;
  if (mistakes.length > 0 || (strict && lost > 0)) {
    throw new NodewrightError('ConversionIncomplete', { mistakes: mistakes.length, lost });
  }
}

function asYaml({ objects }: Conversion): string {
  return objects.map((object) => `---\n${printYaml(object)}`).join('');
}
