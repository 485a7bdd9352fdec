import { decisionOf, type Command } from '../disruption/command.ts';

/** From the view of one of its nodes, as Karpenter writes it. */
export function commandText(command: Command, node: string): string {
  const { candidates, replacements } = command;
  if (candidates.length > 1)
    return `${decisionOf(command)}: [${node}] (part of ${candidates.length}-node consolidation)`;
  const instead = replacements.length === 1 ? '1 replacement' : `${replacements.length} replacements`;
  return `${decisionOf(command)}: [${node}]${replacements.length > 0 ? ` -> [${instead}]` : ''}`;
}
