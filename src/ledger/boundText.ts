import type { BoundProof } from '../solver/problem.ts';

const SCOPE =
  'It leaves out spread, affinity, ports and minValues, and holds for the same pods on new nodes of the same pools with the same preferences granted.';

const COVERING =
  'Instance types cover the sums of cpu, memory, pod slots and other resources, per pool and per set of pods that share instance types; pods and nodes may be cut into pieces.';

const PROOFS: Readonly<Record<BoundProof, string>> = {
  none: 'Nothing was proven, since reserved capacity is almost free or no node is planned.',
  'fractional-covering': `${COVERING} ${SCOPE}`,
  'whole-fillings': `${COVERING} Where few kinds of pods share instance types, nodes hold whole pods and only the number of nodes may be a fraction. ${SCOPE}`,
};

/** How a lower bound was proven, and what it ignores. */
export function boundText(proof: BoundProof): string {
  return PROOFS[proof];
}
