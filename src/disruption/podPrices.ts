/** The average price of the pods of each pool. */
import type { NodeView } from '../cluster/nodeView.ts';
import { podRequests } from '../pods/podRequests.ts';
import { addResources, quantityOf } from '../units/resources.ts';
import type { Candidate } from './candidate.ts';

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

const parts = new WeakMap<NodeView, number>();

/** The used part of the scarcest resource. */
function partUsed(view: NodeView, pods: Candidate['pods']): number {
  let part = parts.get(view);
  if (part === undefined) {
    const used = addResources(...pods.map(podRequests));
    const shares = Object.keys(used).map((name) => {
      const all = quantityOf(view.allocatable, name).milliValue();
      return all > 0 ? quantityOf(used, name).milliValue() / all : 0;
    });
    parts.set(view, (part = Math.min(1, Math.max(0, ...shares))));
  }
  return part;
}
