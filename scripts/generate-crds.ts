/**
 * Writes charts/nodewright-crd from the definitions in `src/api`. With `--check` nothing is written, and the exit code
 * says whether the files are up to date.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderCrds } from '../src/api/crds.ts';
import { printYaml } from '../src/api/yaml/printYaml.ts';

const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), '..');
const CHART = join(REPOSITORY, 'charts', 'nodewright-crd');
const TEMPLATES = join(CHART, 'templates');

/** Path below the chart → content. */
function renderChart(): Map<string, string> {
  const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as { version: string };
  const chart = {
    apiVersion: 'v2',
    name: 'nodewright-crd',
    description:
      'The custom resource definitions of nodewright, apart so that they survive the removal of the main chart.',
    type: 'application',
    version,
    appVersion: version,
  };
  const files = new Map([
    ['Chart.yaml', header() + printYaml(chart)],
    ['values.yaml', `${header()}# The definitions have no settings.\n{}\n`],
  ]);
  for (const crd of renderCrds()) {
    files.set(join('templates', `${crd.metadata.name}.yaml`), header() + withoutActions(printYaml(crd)));
  }
  return files;
}

function header(): string {
  return '# Generated from src/api by scripts/generate-crds.ts. Do not edit.\n';
}

/** The files are applied with kubectl as they are, and must not look like templates to Helm. */
function withoutActions(text: string): string {
  if (text.includes('{{')) throw new Error('a definition contains "{{", which Helm would try to evaluate');
  return text;
}

function currentFiles(): Map<string, string> {
  const names = ['Chart.yaml', 'values.yaml', ...listTemplates().map((name) => join('templates', name))];
  return new Map(names.flatMap((name) => readIfPresent(name)));
}

function listTemplates(): string[] {
  mkdirSync(TEMPLATES, { recursive: true });
  return readdirSync(TEMPLATES).filter((name) => name.endsWith('.yaml'));
}

function readIfPresent(name: string): [string, string][] {
  try {
    return [[name, readFileSync(join(CHART, name), 'utf8')]];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function main(): void {
  const wanted = renderChart();
  const current = currentFiles();
  const stale = [...new Set([...wanted.keys(), ...current.keys()])].filter(
    (name) => wanted.get(name) !== current.get(name),
  );
  if (process.argv.includes('--check')) {
    for (const name of stale) console.error(`charts/nodewright-crd/${name} is out of date`);
    if (stale.length > 0) console.error('run: npx tsx scripts/generate-crds.ts');
    process.exitCode = stale.length > 0 ? 1 : 0;
    return;
  }
  for (const name of stale) {
    const content = wanted.get(name);
    if (content === undefined) rmSync(join(CHART, name));
    else writeFileSync(join(CHART, name), content);
  }
  console.log(stale.length === 0 ? 'charts/nodewright-crd is up to date' : `wrote ${stale.join(', ')}`);
}

main();
