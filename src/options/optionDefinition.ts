/** The shape of one row of the options table, from which parsing, help and docs all follow. */

/** Where a value came from: a command-line flag may be held to stricter spelling than the environment. */
export type OptionSource = 'flag' | 'environment' | 'default';

interface ParsedValue<T> {
  readonly value: T;
  /** Sentences about input that is accepted but probably not meant. */
  readonly warnings?: readonly string[];
}

export interface ParseFailure {
  /** What is wrong, one sentence fragment per mistake, without the value itself. */
  readonly problems: readonly string[];
}

export type ParseOutcome<T> = ParsedValue<T> | ParseFailure;

/** A kind of value: how its text is read and how it is described to people. */
export interface OptionKind<T> {
  /** Stands for the value in help: `--metrics-port <port>`. */
  readonly placeholder: string;
  /** Finishes the sentence "allowed is …". */
  readonly allowed: string;
  /** An empty environment variable is then a value of its own and not the same as an unset one. */
  readonly emptyIsValue: boolean;
  /** The flag may stand alone (`--enable-profiling`). */
  readonly isSwitch?: true;
  parse(text: string, source: OptionSource): ParseOutcome<T>;
}

export type OptionGroup =
  'Cluster' | 'Azure' | 'Nodes' | 'Networking' | 'Images' | 'Scheduling' | 'Logs and metrics' | 'Process';

/** Why an option has no effect. Any value but the default is refused, or accepted with a warning. */
export interface Inactive {
  readonly because: string;
  readonly otherValues: 'refused' | 'ignored';
}

export interface OptionDefinition<T> {
  /** Without dashes. Some settings of the surrounding platform come from the environment only. */
  readonly flag?: string;
  readonly env: string;
  /** Read when `env` is not set. */
  readonly fallbackEnv?: string;
  readonly kind: OptionKind<T>;
  /** As a user would write it. Absent: the option must be given. */
  readonly default?: string;
  /** Its value never appears in messages, logs or help. */
  readonly secret?: true;
  readonly group: OptionGroup;
  /** Present where this version cannot act on the option. */
  readonly inactive?: Inactive;
  /** One or two sentences that teach what the option is for. */
  readonly help: string;
}

/** How messages name an option. */
export function optionName(definition: Pick<OptionDefinition<unknown>, 'flag' | 'env' | 'fallbackEnv'>): string {
  const environment =
    definition.fallbackEnv === undefined ? definition.env : `${definition.env} or ${definition.fallbackEnv}`;
  return definition.flag === undefined ? environment : `--${definition.flag} (${environment})`;
}
