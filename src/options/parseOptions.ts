/**
 * Parses flags and environment to typed options, or throws one error that lists every mistake. A flag overrides its
 * variable; an invalid variable is refused, never silently replaced by the default.
 */
import type { OptionProblem } from '../errors/commandErrors.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { azureOptions } from './azureOptions.ts';
import { crossProblems } from './crossChecks.ts';
import type { OptionDefinition, OptionSource } from './optionDefinition.ts';
import { optionName } from './optionDefinition.ts';
import type { OptionKey, Options } from './optionTable.ts';
import { optionEntries, optionTable } from './optionTable.ts';

export interface OptionInputs {
  /** By flag name without dashes; only flags that were given. */
  readonly flags: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface ParsedOptions {
  readonly options: Options;
  readonly warnings: readonly string[];
}

interface GivenText {
  readonly text: string;
  readonly source: OptionSource;
  readonly name: string;
}

const HIDDEN = '<hidden>';
const SHOWN_LENGTH = 120;

export function parseOptions(inputs: OptionInputs): ParsedOptions {
  const values: Partial<Record<OptionKey, unknown>> = {};
  const problems: OptionProblem[] = [];
  const warnings: string[] = [];
  const needsAzure = findText(optionTable.cloudProvider, inputs)?.text !== 'kwok';
  for (const [key, definition] of optionEntries()) {
    const given = findText(definition, inputs);
    if (given === undefined && !needsAzure && key in azureOptions) {
      // Required options are texts, and without Azure they are not used.
      values[key] = '';
      continue;
    }
    if (given === undefined) {
      problems.push({ option: optionName(definition), sentence: `is required; allowed is ${definition.kind.allowed}` });
      continue;
    }
    const outcome = definition.kind.parse(given.text, given.source);
    if ('problems' in outcome) {
      const problem = `${shown(given.text, definition)} ${outcome.problems.join('; ')}`;
      problems.push({ option: given.name, sentence: `${problem}; allowed is ${definition.kind.allowed}` });
      continue;
    }
    values[key] = outcome.value;
    for (const warning of outcome.warnings ?? []) warnings.push(`${given.name} ${warning}`);
    const { inactive } = definition;
    if (inactive === undefined || isDefault(outcome.value, definition)) continue;
    const value = shown(given.text, definition);
    if (inactive.otherValues === 'ignored') warnings.push(`${given.name}: ${value} has no effect: ${inactive.because}`);
    else problems.push({ option: given.name, sentence: `${value} is refused: ${inactive.because}` });
  }
  for (const { option, sentence } of crossProblems(values as Partial<Options>)) {
    problems.push({ option: optionName(optionTable[option]), sentence });
  }
  if (problems.length > 0) throw new NodewrightError('InvalidOptions', { problems });
  return { options: values as Options, warnings };
}

/** The options for logging: secrets are hidden, values use the option's syntax. */
export function printableOptions(options: Options): Record<string, unknown> {
  return Object.fromEntries(
    optionEntries().map(([key, definition]) => [key, definition.secret === true ? HIDDEN : options[key]]),
  );
}

/** Texts that must never be logged. */
export function secretValues(options: Options): string[] {
  return optionEntries()
    .filter(([, definition]) => definition.secret === true)
    .map(([key]) => options[key])
    .filter((value) => typeof value === 'string');
}

function findText(definition: OptionDefinition<unknown>, inputs: OptionInputs): GivenText | undefined {
  const flag = definition.flag === undefined ? undefined : inputs.flags[definition.flag];
  if (flag !== undefined) return { text: flag, source: 'flag', name: `--${definition.flag}` };
  for (const name of [definition.env, definition.fallbackEnv]) {
    const text = name === undefined ? undefined : inputs.environment[name];
    // Charts write unset values as empty variables, so empty counts as unset unless it is a valid value.
    if (name === undefined || text === undefined || (text.trim() === '' && !definition.kind.emptyIsValue)) continue;
    if (text.trim() === '' && definition.fallbackEnv !== undefined) continue;
    return { text, source: 'environment', name };
  }
  return definition.default === undefined
    ? undefined
    : { text: definition.default, source: 'default', name: optionName(definition) };
}

/** Whether the value equals the default. */
function isDefault(value: unknown, { kind, default: text }: OptionDefinition<unknown>): boolean {
  if (text === undefined) return false;
  const outcome = kind.parse(text, 'default');
  return 'value' in outcome && JSON.stringify(outcome.value) === JSON.stringify(value);
}

function shown(text: string, definition: OptionDefinition<unknown>): string {
  if (definition.secret === true) return HIDDEN;
  return `"${text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text}"`;
}
