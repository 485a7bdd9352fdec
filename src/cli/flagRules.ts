/** Flags that require other flags: they are refused without these, so that no flag is silently ignored. */
import type { Command } from 'commander';

/** By a flag's attribute: the flags of which one must also be given, as `--name` or `--name=value`. */
export type FlagNeeds = Readonly<Record<string, readonly [string, ...string[]]>>;

export function withNeeds(command: Command, needs: FlagNeeds): Command {
  return command.hook('preAction', (_, acting) => {
    for (const [flag, others] of Object.entries(needs)) {
      if (acting.getOptionValueSource(flag) !== 'cli' || others.some((other) => isGiven(acting, other))) continue;
      const { long = flag } = acting.options.find((option) => option.attributeName() === flag) ?? {};
      acting.error(`error: ${long} does nothing without ${others.map(shown).join(' or ')}`);
    }
  });
}

function isGiven(command: Command, wanted: string): boolean {
  const [name = '', value] = wanted.split('=');
  const option = command.options.find(({ long }) => long === name);
  const given: unknown = option && command.getOptionValue(option.attributeName());
  return value === undefined ? given !== undefined && given !== false : given === value;
}

const shown = (flag: string): string => flag.replace('=', ' ');
