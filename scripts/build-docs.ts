/**
 * `npm run docs:build`: writes docs/reference.md (fields of every kind, conditions, events and metrics, as the code has
 * them) and builds the pages of docs/ to docs/.vitepress/dist. The builder is installed in docs/ only when it is needed.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderCrds } from '../src/api/crds.ts';
import {
  AksNodeClassConditions,
  NodeClaimConditions,
  NodeOverlayConditions,
  NodePoolConditions,
} from '../src/api/conditionTypes.ts';

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly 'x-kubernetes-int-or-string'?: boolean;
}

const CONDITIONS = {
  NodePool: NodePoolConditions,
  NodeClaim: NodeClaimConditions,
  AKSNodeClass: AksNodeClassConditions,
  NodeOverlay: NodeOverlayConditions,
};

export function renderReferenceMarkdown(root: string): string {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('local/'))
    .sort()
    .map((file) => ({ file, text: readFileSync(join(root, 'src', file), 'utf8') }));
  return `${[
    '# Reference',
    '',
    '<!-- Written by scripts/build-docs.ts from the code; change it there. -->',
    '',
    'Options are in [options](options.md), errors in [errors](errors.md).',
    '',
    ...renderCrds().flatMap(kindSection),
    '## Conditions',
    '',
    'Each kind has `Ready` besides.',
    '',
    '| kind | conditions |',
    '| --- | --- |',
    ...Object.entries(CONDITIONS).map(
      ([kind, types]) =>
        `| ${kind} | ${Object.values(types)
          .map((type) => `\`${type}\``)
          .join(', ')} |`,
    ),
    '',
    '## Events',
    '',
    ...eventReasons(sources).map((reason) => `- \`${reason}\``),
    '',
    '## Metrics',
    '',
    '| metric | what it counts |',
    '| --- | --- |',
    ...metrics(sources).map(([name, help]) => `| \`${name}\` | ${cell(help)} |`),
  ].join('\n')}\n`;
}

function kindSection({ spec }: ReturnType<typeof renderCrds>[number]): readonly string[] {
  const version = spec.versions.find(({ storage }) => storage) ?? spec.versions[0];
  const schema = version?.schema?.openAPIV3Schema as Schema | undefined;
  return [
    `## ${spec.names.kind}`,
    '',
    `\`${spec.group}/${version?.name ?? ''}\`. ${schema?.description ?? ''}`,
    '',
    '| field | type | what it says |',
    '| --- | --- | --- |',
    ...fieldsOf(schema?.properties?.['spec'] ?? {}, 'spec').map(
      ({ path, type, text }) => `| \`${path}\` | ${type} | ${cell(text)} |`,
    ),
    '',
  ];
}

interface Field {
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

function fieldsOf(schema: Schema, path: string): readonly Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const own = `${path}.${name}`;
    const inner = field.items ?? field;
    const fallback = field.default === undefined ? '' : ` Default: \`${JSON.stringify(field.default)}\`.`;
    const choices =
      field.enum === undefined ? '' : ` One of ${field.enum.map((value) => `\`${String(value)}\``).join(', ')}.`;
    const row = { path: own, type: typeOf(field), text: `${field.description ?? ''}${choices}${fallback}` };
    return [row, ...fieldsOf(inner, field.items === undefined ? own : `${own}[]`)];
  });
}

function typeOf(schema: Schema): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'quantity';
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.additionalProperties !== undefined) return `map of ${typeOf(schema.additionalProperties)}`;
  return schema.type ?? 'any';
}

type Sources = readonly { readonly file: string; readonly text: string }[];

function eventReasons(sources: Sources): readonly string[] {
  const texts = sources.filter(({ file }) => file.startsWith('ledger/')).map(({ text }) => text);
  const found = texts.flatMap((text) => [...text.matchAll(/\breason: '([A-Z]\w+)'/g)].map(([, reason = '']) => reason));
  return [...new Set(found)].sort();
}

function metrics(sources: Sources): readonly (readonly [string, string])[] {
  const found = sources.flatMap(({ text }) =>
    [
      ...text.matchAll(
        /name: '((?:karpenter|nodewright|operator|controller|leader|workqueue|aks)_\w+)',\s+help:\s+'((?:[^'\\]|\\.)*)'/g,
      ),
    ].map(([, name = '', help = '']) => [name, help.replaceAll("\\'", "'")] as const),
  );
  return [...new Map(found)].sort(([left], [right]) => (left < right ? -1 : 1));
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ').trim();

if (process.argv[1] === import.meta.filename) {
  const root = join(import.meta.dirname, '..');
  writeFileSync(join(root, 'docs/reference.md'), renderReferenceMarkdown(root));
  for (const args of [
    ['ci', '--no-audit', '--no-fund'],
    ['run', 'build'],
  ]) {
    const { status } = spawnSync('npm', ['--prefix', 'docs', ...args], { cwd: root, stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
  }
}
