/** Lets commander parse a value with a kind of the options table, and say what is allowed. */
import { InvalidArgumentError } from 'commander';
import type { OptionKind } from '../options/optionDefinition.ts';

export function optionReader<T>(kind: OptionKind<T>): (text: string) => T {
  return (text) => {
    const outcome = kind.parse(text, 'flag');
    if ('problems' in outcome)
      throw new InvalidArgumentError(`It ${outcome.problems.join('; ')}; allowed is ${kind.allowed}.`);
    return outcome.value;
  };
}
