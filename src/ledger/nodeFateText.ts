import type { Kept } from '../disruption/kept.ts';
import type { Alternative } from '../solver/problem.ts';
import { keptText } from './keptText.ts';

/** Outcome for a node in the next disruption pass. */
export type NodeFate =
  | {
      readonly kind: 'goes';
      readonly reason: string;
      readonly savingsPerHour: number;
      readonly replacements: readonly Alternative[];
    }
  | { readonly kind: 'kept'; readonly kept: Kept };

export function nodeFateText(fate: NodeFate): string {
  if (fate.kind === 'kept') return keptText(fate.kept);
  const { reason, savingsPerHour, replacements } = fate;
  const types = replacements.map(({ instanceType }) => instanceType);
  const instead = types.length === 0 ? '' : `, replaced by ${types.join(', ')}`;
  const saving = savingsPerHour > 0 ? `; that saves $${savingsPerHour.toFixed(4)} per hour` : '';
  return `nothing keeps it: the next pass removes it (${reason})${instead}${saving}`;
}
