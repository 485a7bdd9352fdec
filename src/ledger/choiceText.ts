import type { GapPart } from '../solver/problem.ts';
import type { CandidateCounts, CandidateStage, NodeChoice, RejectedType } from '../solver/reasons.ts';
import { amountText } from './amountText.ts';
import { countText } from './countText.ts';

/** Why a node is not cheaper. */
export function choiceText({
  boundBy,
  boundByResource,
}: {
  readonly boundBy?: NodeChoice['boundBy'] | undefined;
  readonly boundByResource?: string | undefined;
}): string {
  if (boundBy === undefined) return 'no cheaper instance type holds any of its pods';
  return `without ${boundBy} a cheaper instance type would suffice${boundByResource === undefined ? '' : ` (${boundByResource})`}`;
}

const STAGES: Readonly<Partial<Record<CandidateStage, string>>> = {
  'instance-types': 'do not meet the requirements',
  offerings: 'are not available as required',
  resources: 'are too small',
  replacement: 'may not be used as a replacement (price, capacity type or a recent launch failure)',
};

/** How many instance types remained, and which stages removed the others. */
export function candidatesText({ offered, removed }: CandidateCounts): string {
  const lost = removed.map(({ stage, count }) => `${count} ${STAGES[stage] ?? stage}`);
  return `Of ${countText(offered, 'instance type')} of the pool ${lost.length === 0 ? 'all are suitable' : lost.join(', ')}`;
}

export function rejectedTypeText(rejected: RejectedType): string {
  switch (rejected.because) {
    case 'fit':
      return `lacks ${amountText(rejected.lacks)}`;
    case 'price':
      return rejected.morePerHour > 0 ? `costs $${rejected.morePerHour.toFixed(4)} more per hour` : 'costs the same';
    case 'availability':
      return 'is not offered for what these pods require';
  }
}

const GAP_CAUSES: Readonly<Record<GapPart['cause'], string>> = {
  'unused-capacity': 'capacity that no pod uses',
  'dearer-types': 'instance types that cost more than their capacity is worth here',
  daemons: 'daemons on every node',
  constraints: 'spread, affinity and whole nodes',
};

export function gapText(cause: GapPart['cause']): string {
  return GAP_CAUSES[cause];
}
