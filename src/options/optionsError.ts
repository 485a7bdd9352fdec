/** Everything that is wrong with the options of one start, in one error. */
export interface OptionProblem {
  /** The option as its user knows it: `--metrics-port (METRICS_PORT)`. */
  readonly option: string;
  /** One sentence: the value, what is wrong with it, what is allowed. */
  readonly sentence: string;
}

export class OptionsError extends Error {
  readonly code = 'InvalidOptions';
  readonly problems: readonly OptionProblem[];

  constructor(problems: readonly OptionProblem[]) {
    const count = problems.length === 1 ? 'one option is' : `${problems.length} options are`;
    super([`${count} wrong:`, ...problems.map(({ option, sentence }) => `  ${option}: ${sentence}`)].join('\n'));
    this.name = 'OptionsError';
    this.problems = problems;
  }
}
