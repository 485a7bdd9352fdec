/** Lets commander parse a value with an option kind from the options table, with its error message. */
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
