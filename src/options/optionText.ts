/** The options table as text: rows for `--help`, and the Markdown page. */
import { gateTable } from './featureGates.ts';
import type { Inactive, OptionDefinition, OptionGroup } from './optionDefinition.ts';
import { optionEntries, optionGroups } from './optionTable.ts';

export interface OptionHelpRow {
  readonly group: OptionGroup;
  /** Absent for settings that come only from the environment. */
  readonly flag: string | undefined;
  readonly env: string;
  /** `<port>`, or `[true|false]` where the flag may be given without a value. */
  readonly placeholder: string;
  readonly help: string;
  /** The default and the variables, or that it is required. */
  readonly facts: string;
}

/** One row per option, group by group. */
export function optionHelpRows(): OptionHelpRow[] {
  return optionsByGroup().flatMap(([group, definitions]) =>
    definitions.map((definition) => ({
      group,
      flag: definition.flag,
      env: definition.env,
      placeholder: definition.kind.isSwitch ? `[${definition.kind.placeholder}]` : `<${definition.kind.placeholder}>`,
      help: definition.help,
      facts: helpFacts(definition).join('; '),
    })),
  );
}

export function renderOptionsMarkdown(): string {
  const sections = optionsByGroup().map(([group, definitions]) =>
    [`## ${group}`, '', ...definitions.flatMap((definition) => markdownEntry(definition))].join('\n'),
  );
  const gates = Object.entries(gateTable).map(
    ([name, gate]) => `| \`${name}\` | ${gate.default ? 'on' : 'off'} | ${sentence(gate.help)} |`,
  );
  return `${[
    '# Options',
    '',
    '<!-- Written by scripts/generate-docs.ts from src/options; change it there. -->',
    '',
    'Every option of `nodewright run` can be given as a flag or as an environment variable; the flag wins. Names and',
    'defaults are those of Karpenter and its Azure provider, so an existing deployment needs no change. A value that',
    'cannot be read stops the start, with all mistakes in one message.',
    '',
    ...sections,
    '## Feature gates',
    '',
    'Given as `--feature-gates NodeRepair=true,StaticCapacity=true`. A gate that nodewright does not know is reported and',
    'ignored; one that is not named keeps its default.',
    '',
    '| Gate | Default | What it does |',
    '|---|---|---|',
    ...gates,
  ].join('\n')}\n`;
}

function optionsByGroup(): [OptionGroup, OptionDefinition<unknown>[]][] {
  const definitions = optionEntries().map(([, definition]) => definition);
  return optionGroups.map((group) => [group, definitions.filter((definition) => definition.group === group)]);
}

/** The variable is named here only if there is a flag; otherwise it is already the row's name. */
function helpFacts({ flag, env, fallbackEnv, ...definition }: OptionDefinition<unknown>): string[] {
  const variables = fallbackEnv === undefined ? env : `${env} or ${fallbackEnv}`;
  const fallback = fallbackEnv === undefined ? [] : [`else ${fallbackEnv}`];
  const { inactive } = definition;
  return [
    ...(flag === undefined ? fallback : [`env ${variables}`]),
    defaultText(definition),
    ...(inactive === undefined ? [] : [inactiveText(inactive)]),
  ];
}

function inactiveText({ because, otherValues }: Inactive): string {
  return otherValues === 'refused' ? `other values are refused: ${because}` : `no effect: ${because}`;
}

function defaultText(definition: Pick<OptionDefinition<unknown>, 'default'>): string {
  if (definition.default === undefined) return 'required';
  return definition.default === '' ? 'default empty' : `default ${definition.default}`;
}

function markdownEntry(definition: OptionDefinition<unknown>): string[] {
  const flag = definition.flag === undefined ? undefined : `\`--${definition.flag}\``;
  const variables = [definition.env, definition.fallbackEnv].filter((name) => name !== undefined);
  const names = [flag, ...variables.map((name) => `\`${name}\``)].filter((name) => name !== undefined);
  const byDefault = definition.default === '' ? 'empty' : `\`${definition.default}\``;
  return [
    `### ${names.join(' · ')}`,
    '',
    definition.help,
    '',
    `- Allowed: ${escapeMarkdown(definition.kind.allowed)}`,
    definition.default === undefined ? '- Required' : `- Default: ${byDefault}`,
    ...(definition.secret === true ? ['- Secret: never printed'] : []),
    ...(definition.inactive === undefined ? [] : [`- In this version: ${inactiveText(definition.inactive)}`]),
    '',
  ];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Angle brackets would be interpreted as HTML. */
function escapeMarkdown(text: string): string {
  return text.replace(/[<>\\]/g, (character) => `\\${character}`);
}
