import { decisionOf, type Command } from '../disruption/command.ts';

/** From the perspective of one of its nodes, as Karpenter writes it. */
export function commandText(command: Command, node: string): string {
  const { candidates, replacements } = command;
  if (candidates.length > 1)
    return `${decisionOf(command)}: [${node}] (part of ${candidates.length}-node consolidation)`;
  const instead = replacements.length === 1 ? '1 replacement' : `${replacements.length} replacements`;
  return `${decisionOf(command)}: [${node}]${replacements.length > 0 ? ` -> [${instead}]` : ''}`;
}

/** Why a command was reverted. */
export type CommandFailure =
  | { readonly kind: 'replacement-deleted'; readonly claim: string }
  | { readonly kind: 'timeout'; readonly problem?: string };

export function commandFailureText(failure: CommandFailure): string {
  if (failure.kind === 'replacement-deleted') return `replacement ${failure.claim} was deleted`;
  return `command reached timeout${failure.problem === undefined ? '' : `: ${failure.problem}`}`;
}
