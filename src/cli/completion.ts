/** `nodewright completion`: scripts for shell completion of verbs, subcommands and options. */
import { Argument, Command } from 'commander';

type Shell = 'bash' | 'zsh' | 'fish' | 'kubectl';

/** Possible completions after some words. */
interface Choice {
  /** For example `explain pod`; empty for the program itself. */
  readonly after: string;
  readonly commands: readonly string[];
  readonly options: readonly CompletedOption[];
}

interface CompletedOption {
  readonly flags: readonly string[];
  /** Possible values; empty when unknown. */
  readonly values: readonly string[];
}

const HELP: CompletedOption = { flags: ['--help'], values: [] };

export function completionCommand(loadAll: () => Promise<readonly Command[]>): Command {
  return new Command('completion')
    .description(
      'Prints a script for a shell: source <(nodewright completion bash). That of kubectl is to be a program with the name kubectl_complete-nodewright.',
    )
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish', 'kubectl']))
    .action(async (shell: Shell) => {
      process.stdout.write(`${SCRIPTS[shell](choicesOf(await loadAll())).join('\n')}\n`);
    });
}

function choicesOf(commands: readonly Command[]): readonly Choice[] {
  return [
    { after: '', commands: commands.map((each) => each.name()), options: [] },
    ...commands.flatMap((each) => choicesIn(each, '')),
  ];
}

function choicesIn(command: Command, before: string): readonly Choice[] {
  const after = `${before} ${command.name()}`.trim();
  const options = command.options.map(({ long, short, argChoices }) => ({
    flags: [long, short].flatMap((flag) => flag ?? []),
    values: argChoices ?? [],
  }));
  const commands = command.commands.map((each) => each.name());
  return [
    { after, commands, options: [...options, HELP] },
    ...command.commands.flatMap((each) => choicesIn(each, after)),
  ];
}

/** Words that are neither options nor user-chosen names select the next choices. */
const SCRIPTS: Readonly<Record<Shell, (choices: readonly Choice[]) => readonly string[]>> = {
  bash: (choices) => [
    '_nodewright() {',
    '  local after="" word choices="" current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    ...walk(choices),
    '  done',
    ...offer(choices),
    '  COMPREPLY=($(compgen -W "$choices" -- "$current"))',
    '}',
    'complete -F _nodewright nodewright kubectl-nodewright',
  ],
  zsh: (choices) => [
    '(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }',
    '_nodewright() {',
    '  local after="" word choices="" previous="${words[CURRENT-1]}"',
    '  for word in "${(@)words[2,CURRENT-1]}"; do',
    ...walk(choices),
    '  done',
    ...offer(choices),
    '  compadd -- ${=choices}',
    '}',
    'compdef _nodewright nodewright kubectl-nodewright',
  ],
  kubectl: (choices) => [
    '#!/bin/sh',
    'after="" choices="" previous=""',
    'while [ $# -gt 1 ]; do',
    '  word="$1" previous="$1"',
    ...walk(choices),
    '  shift',
    'done',
    ...offer(choices),
    'for word in $choices; do',
    '  case "$word" in "$1"*) echo "$word" ;; esac',
    'done',
    '# No names of files.',
    'echo :4',
  ],
  fish: (choices) => ['nodewright', 'kubectl-nodewright'].flatMap((program) => fishLines(program, choices)),
};

function walk(choices: readonly Choice[]): readonly string[] {
  const known = choices.flatMap(({ after }) => (after === '' ? [] : [`"${after}"`]));
  return [
    '    case "$word" in',
    '      -*) ;;',
    '      *)',
    '        case "${after:+$after }$word" in',
    `          ${known.join('|')}) after="\${after:+$after }$word" ;;`,
    '        esac ;;',
    '    esac',
  ];
}

/** Values of an option come before all other words. */
function offer(choices: readonly Choice[]): readonly string[] {
  const values = choices.flatMap(({ after, options }) =>
    options.flatMap((option) => {
      const patterns = option.flags.map((flag) => `"${after} ${flag}"`);
      return option.values.length === 0 ? [] : [`    ${patterns.join('|')}) choices="${option.values.join(' ')}" ;;`];
    }),
  );
  const words = choices.map(({ after, commands, options }) => {
    const long = options.flatMap(({ flags }) => flags.filter((flag) => flag.startsWith('--')));
    return `      "${after}") choices="${[...commands, ...long].join(' ')}" ;;`;
  });
  return ['  case "$after $previous" in', ...values, '    *) case "$after" in', ...words, '    esac ;;', '  esac'];
}

function fishLines(program: string, choices: readonly Choice[]): readonly string[] {
  return choices.flatMap(({ after, commands, options }) => {
    const path = after.split(' ').filter((word) => word !== '');
    const condition =
      path.length === 0
        ? '__fish_use_subcommand'
        : path.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
    const start = `complete -c ${program} -n '${condition}'`;
    return [
      ...commands.map((word) => `${start} -f -a ${word}`),
      ...options.map(({ flags, values }) => {
        const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
        return [start, ...names, ...(values.length === 0 ? [] : [`-x -a '${values.join(' ')}'`])].join(' ');
      }),
    ];
  });
}
