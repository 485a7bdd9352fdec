/** The average price of the pods of each pool. */
import type { NodeView } from '../cluster/nodeView.ts';
import type { Candidate } from './candidate.ts';
import { loadOf, sumOf, toLoad } from './podValues.ts';

/** By pool: dollars per hour for an average pod. Free room on the nodes is not counted. */
export function podPrices(candidates: readonly Candidate[]): ReadonlyMap<string, number> {
  const sums = new Map<string, { price: number; pods: number }>();
  for (const { view, pool, pods, pricePerHour } of candidates) {
    const { name } = pool.metadata;
    let sum = sums.get(name);
    if (sum === undefined) sums.set(name, (sum = { price: 0, pods: 0 }));
    sum.price += pricePerHour * partUsed(view, pods);
    sum.pods += pods.length;
  }
  return new Map([...sums].map(([name, { price, pods }]) => [name, pods === 0 ? 0 : price / pods]));
}

/** The used part of the scarcer resource. */
function partUsed({ allocatable }: NodeView, pods: Candidate['pods']): number {
  const [cpu, memory] = sumOf(pods.map(loadOf));
  const [allCpu, allMemory] = toLoad(allocatable);
  return Math.min(1, Math.max(cpu / (allCpu || 1), memory / (allMemory || 1)));
}
