/** Renders what blocks savings. */
import type { SavingsBacklog } from '../disruption/backlog.ts';

type BlockerKind = SavingsBacklog['pools'][number]['blockers'][number]['cause'];

const MEANINGS: Readonly<Record<BlockerKind, string>> = {
  pdb: 'A PodDisruptionBudget allows no eviction',
  'do-not-disrupt': 'A pod or node has do-not-disrupt',
  budget: 'The budget of the pool is used up',
  window: 'The budget of the pool has a window, and it is closed',
  policy: 'The consolidation policy of the pool excludes it',
  'consolidate-after': 'The last pod event is too recent (consolidateAfter)',
  scheduling: 'Its pods would have no other place',
  'not-cheaper': 'Nothing cheaper holds its pods, or the move does not pay',
  'spot-to-spot': 'Spot nodes are not replaced by spot nodes',
  'launch-failure': 'Cheaper instances failed to launch recently',
  'under-way': 'It is being disrupted',
  next: 'It is due in one of the next passes',
};

export const blockerText = (cause: BlockerKind): string => MEANINGS[cause];
