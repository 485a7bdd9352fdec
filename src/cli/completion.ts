/** `nodewright completion`: scripts that let a shell complete verbs, subcommands and options. */
import { Argument, Command } from 'commander';

type Shell = 'bash' | 'zsh' | 'fish';

/** What may follow after some words. */
interface Choice {
  /** `explain pod`; empty for the program itself. */
  readonly after: string;
  readonly words: readonly string[];
}

export function completionCommand(loadAll: () => Promise<readonly Command[]>): Command {
  return new Command('completion')
    .description('Prints a script for a shell: source <(nodewright completion bash)')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: Shell) => {
      process.stdout.write(scriptFor(shell, choicesOf(await loadAll())));
    });
}

function choicesOf(commands: readonly Command[]): readonly Choice[] {
  return [
    { after: '', words: commands.map((each) => each.name()) },
    ...commands.flatMap((each) => choicesIn(each, '')),
  ];
}

function choicesIn(command: Command, before: string): readonly Choice[] {
  const after = `${before} ${command.name()}`.trim();
  const options = command.options.flatMap(({ long }) => (long === null || long === undefined ? [] : [long]));
  const words = [...command.commands.map((each) => each.name()), ...options, '--help'];
  return [{ after, words }, ...command.commands.flatMap((each) => choicesIn(each, after))];
}

function scriptFor(shell: Shell, choices: readonly Choice[]): string {
  if (shell === 'fish') return fishScript(choices);
  const cases = choices.map(({ after, words }) => `    "${after}") words="${words.join(' ')}" ;;`);
  const lines = [
    '# Words that are neither options nor names that the user chose lead to what may follow.',
    '_nodewright() {',
    '  local path="" word words="" current="${COMP_WORDS[COMP_CWORD]}"',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    case "$word" in',
    '      -*) ;;',
    '      *)',
    '        case "${path:+$path }$word" in',
    `          ${choices.flatMap(({ after }) => (after === '' ? [] : [`"${after}"`])).join('|')}) path="\${path:+$path }$word" ;;`,
    '        esac ;;',
    '    esac',
    '  done',
    '  case "$path" in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -F _nodewright nodewright kubectl-nodewright',
  ];
  const prelude = shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit'] : [];
  return `${[...prelude, ...lines].join('\n')}\n`;
}

function fishScript(choices: readonly Choice[]): string {
  const lines = choices.flatMap(({ after, words }) => {
    const path = after.split(' ').filter((word) => word !== '');
    const condition =
      path.length === 0
        ? '__fish_use_subcommand'
        : path.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
    return words.map((word) =>
      word.startsWith('--')
        ? `complete -c nodewright -n '${condition}' -l ${word.slice(2)}`
        : `complete -c nodewright -f -n '${condition}' -a ${word}`,
    );
  });
  return `${lines.join('\n')}\n`;
}
