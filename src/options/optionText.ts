/**
 * The options table as text for people. In: the table. Out: rows for `--help`, and the Markdown page.
 */
import { gateTable } from './featureGates.ts';
import type { OptionDefinition, OptionGroup } from './optionDefinition.ts';
import { optionEntries, optionGroups } from './optionTable.ts';

export interface OptionHelpRow {
  readonly group: OptionGroup;
  /** Absent for settings that come from the environment only. */
  readonly flag: string | undefined;
  readonly env: string;
  /** `<port>`, or `[true|false]` where the flag may stand alone. */
  readonly placeholder: string;
  /** The help sentence with choices, default and variable. */
  readonly description: string;
}

/** One row per option, group by group. */
export function optionHelpRows(): OptionHelpRow[] {
  return optionsByGroup().flatMap(([group, definitions]) =>
    definitions.map((definition) => ({
      group,
      flag: definition.flag,
      env: definition.env,
      placeholder: definition.kind.isSwitch ? `[${definition.kind.placeholder}]` : `<${definition.kind.placeholder}>`,
      description: `${definition.help} (${helpFacts(definition).join('; ')})`,
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

function helpFacts(definition: OptionDefinition<unknown>): string[] {
  const environment = [definition.env, definition.fallbackEnv].filter((name) => name !== undefined).join(' or ');
  return [`env ${environment}`, defaultText(definition)];
}

function defaultText(definition: OptionDefinition<unknown>): string {
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
    '',
  ];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Angle brackets would be read as HTML. */
function escapeMarkdown(text: string): string {
  return text.replace(/[<>\\]/g, (character) => `\\${character}`);
}
