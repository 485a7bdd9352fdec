/** One row of the options table, from which parsing, help and docs are derived. */

/** Source of a value: the syntax of a flag may be stricter than that of the environment. */
export type OptionSource = 'flag' | 'environment' | 'default';

interface ParsedValue<T> {
  readonly value: T;
  /** Warnings about input that is accepted but probably unintended. */
  readonly warnings?: readonly string[];
}

export interface ParseFailure {
  /** The mistakes, one sentence fragment each, without the value itself. */
  readonly problems: readonly string[];
}

export type ParseOutcome<T> = ParsedValue<T> | ParseFailure;

/** A kind of value: how its text is parsed and described. */
export interface OptionKind<T> {
  /** Placeholder in help: `--metrics-port <port>`. */
  readonly placeholder: string;
  /** Completes the sentence "allowed is …". */
  readonly allowed: string;
  /** Whether an empty environment variable is a value, not the same as an unset one. */
  readonly emptyIsValue: boolean;
  /** The flag may be given without a value (`--enable-profiling`). */
  readonly isSwitch?: true;
  parse(text: string, source: OptionSource): ParseOutcome<T>;
}

export type OptionGroup =
  'Cluster' | 'Azure' | 'Nodes' | 'Networking' | 'Images' | 'Scheduling' | 'Logs and metrics' | 'Process';

/** Why an option has no effect. Values other than the default are refused, or accepted with a warning. */
export interface Inactive {
  readonly because: string;
  readonly otherValues: 'refused' | 'ignored';
}

export interface OptionDefinition<T> {
  /** Without dashes. Some platform settings come only from the environment. */
  readonly flag?: string;
  readonly env: string;
  /** Read when `env` is not set. */
  readonly fallbackEnv?: string;
  readonly kind: OptionKind<T>;
  /** In the option's syntax. Absent: the option is required. */
  readonly default?: string;
  /** Its value never appears in messages, logs or help. */
  readonly secret?: true;
  readonly group: OptionGroup;
  /** Set when this version does not support the option. */
  readonly inactive?: Inactive;
  /** One or two sentences about the purpose of the option. */
  readonly help: string;
}

/** Name of an option in messages. */
export function optionName(definition: Pick<OptionDefinition<unknown>, 'flag' | 'env' | 'fallbackEnv'>): string {
  const environment =
    definition.fallbackEnv === undefined ? definition.env : `${definition.env} or ${definition.fallbackEnv}`;
  return definition.flag === undefined ? environment : `--${definition.flag} (${environment})`;
}
