/** `nodewright crds`: the custom resource definitions, ready for `kubectl apply --server-side -f -`. */
import { Command, Option } from 'commander';
import { printYaml } from '../api/yaml/printYaml.ts';
import { renderCrds } from '../api/crds.ts';
import type { CustomResourceDefinition } from '../api/kinds.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';

export function crdsCommand(): Command {
  return new Command('crds')
    .description(
      'Prints the custom resource definitions that nodewright needs. Install them with:\n  nodewright crds | kubectl apply --server-side -f -',
    )
    .argument('[kinds...]', 'only these kinds, by kind, plural, singular or short name; without, all')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['yaml', 'json']).default('yaml'))
    .action((kinds: string[], { output }: { output: 'yaml' | 'json' }) => {
      const crds = chooseCrds(renderCrds(), kinds);
      process.stdout.write(output === 'yaml' ? asYaml(crds) : asJson(crds));
    });
}

function chooseCrds(crds: readonly CustomResourceDefinition[], kinds: readonly string[]): CustomResourceDefinition[] {
  const unknown = kinds.filter((kind) => !crds.some((crd) => isNamed(crd, kind)));
  if (unknown.length > 0) {
    const known = crds.map((crd) => crd.spec.names.plural);
    throw new NodewrightError('UnknownKinds', { kinds: unknown, known });
  }
  return crds.filter((crd) => kinds.length === 0 || kinds.some((kind) => isNamed(crd, kind)));
}

function isNamed(crd: CustomResourceDefinition, text: string): boolean {
  const { kind, plural, singular, shortNames = [] } = crd.spec.names;
  const names = [kind, plural, singular, crd.metadata?.name, ...shortNames];
  return names.some((name) => name?.toLowerCase() === text.toLowerCase());
}

function asYaml(crds: readonly CustomResourceDefinition[]): string {
  return crds.map((crd) => `---\n${printYaml(crd)}`).join('');
}

function asJson(crds: readonly CustomResourceDefinition[]): string {
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: crds }, undefined, 2)}\n`;
}
