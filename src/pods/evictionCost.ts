import type { Pod } from '../api/kinds.ts';
import { Annotations } from '../api/labels.ts';

const DELETION_COST_UNIT = 2 ** 27;
const PRIORITY_UNIT = 2 ** 25;
const BOUND = 10;

/** Cost of moving a pod: 1 for an ordinary one, adjusted by its deletion cost and priority. */
export function evictionCost({ metadata, spec }: Pod): number {
  const deletionCost = Number(metadata.annotations?.[Annotations.podDeletionCost] ?? 0);
  const cost =
    1 + (Number.isFinite(deletionCost) ? deletionCost / DELETION_COST_UNIT : 0) + (spec?.priority ?? 0) / PRIORITY_UNIT;
  return Math.min(BOUND, Math.max(-BOUND, cost));
}
