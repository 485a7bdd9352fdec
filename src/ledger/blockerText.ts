/** Renders what blocks savings. */
import type { SavingsBacklog } from '../disruption/backlog.ts';

type BlockerKind = SavingsBacklog['pools'][number]['blockers'][number]['cause'];

const MEANINGS: Readonly<Record<BlockerKind, string>> = {
  pdb: 'A PodDisruptionBudget lets no pod go',
  'do-not-disrupt': 'A pod or node asks not to be disrupted',
  budget: 'The budget of the pool is used up',
  window: 'The budget of the pool has a window, and it is closed',
  policy: 'The consolidation policy of the pool excludes it',
  'consolidate-after': 'Pods came or went too recently (consolidateAfter)',
  scheduling: 'Its pods would have no other place',
  'not-cheaper': 'Nothing cheaper holds its pods, or the move does not pay',
  'spot-to-spot': 'Spot nodes are not replaced by spot nodes',
  'launch-failure': 'Cheaper instances could not be had lately',
  'under-way': 'It is being worked on',
  next: 'It is its turn in one of the next passes',
};

export const blockerText = (cause: BlockerKind): string => MEANINGS[cause];
