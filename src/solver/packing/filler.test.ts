import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apartPods, flawsOf, packingDemand, plainPods } from '../../../test/fixtures/solver/packingDemand.ts';
import { testType } from '../../../test/fixtures/solver/testObjects.ts';
import { countsOf, orderByValue } from './demand.ts';
import { Filler } from './filler.ts';
import { queueOf } from './queue.ts';

const TYPES = [testType('a4', 4, 16, 0.2), testType('b8', 8, 32, 0.39)];

describe('a filled node', () => {
  it('mixes pods of both shapes, so that cpu and memory run out together', () => {
    const pods = [...plainPods('cpu', 4, '1800m', '1Gi'), ...plainPods('memory', 4, '100m', '6Gi')];
    const demand = packingDemand(pods, [testType('a4', 4, 16, 0.2)]);
    const filler = new Filler(demand);
    const queue = queueOf(orderByValue(demand.items.keys(), demand.value), demand);
    expect(filler.fill(0, queue.items[0]!, queue, countsOf(demand), demand.value, undefined)).toBe(true);
    const { items, counts } = filler.bin(undefined);
    expect(items.length).toBe(2);
    expect(counts).toEqual([2, 2]);
  });

  it('does not begin with a pod that its type cannot hold', () => {
    const demand = packingDemand(plainPods('large', 1, '6', '4Gi'), TYPES);
    const queue = queueOf(Int32Array.of(0), demand);
    const filler = new Filler(demand);
    const typeOf = (name: string): number => demand.pool.types.findIndex((type) => type.name === name);
    expect(filler.fill(typeOf('a4'), 0, queue, countsOf(demand), demand.value, undefined)).toBe(false);
    expect(filler.fill(typeOf('b8'), 0, queue, countsOf(demand), demand.value, undefined)).toBe(true);
  });

  it('respects its type and limits, and is bought at the least price, fill after fill', () => {
    const workload = fc.tuple(fc.integer({ min: 1, max: 6 }), fc.nat(30), fc.nat(60), fc.boolean());
    fc.assert(
      fc.property(fc.array(workload, { minLength: 1, maxLength: 6 }), (workloads) => {
        const pods = workloads.flatMap(([count, cpu, memory, isApart], at) =>
          (isApart ? apartPods : plainPods)(`w${at}`, count, `${cpu * 100 + 50}m`, `${memory * 256 + 64}Mi`),
        );
        const demand = packingDemand(pods, TYPES);
        const filler = new Filler(demand);
        const left = countsOf(demand);
        const queue = queueOf(orderByValue(demand.items.keys(), demand.value), demand);
        for (const seed of queue.items) {
          for (const type of demand.pool.types.keys()) {
            if (!filler.fill(type, seed, queue, left, demand.value, undefined)) continue;
            const bin = filler.bin(undefined);
            const rest = left.map((count, item) => count - (bin.counts[bin.items.indexOf(item)] ?? 0));
            expect(bin.items[0]).toBe(seed);
            expect(rest.every((count) => count >= 0)).toBe(true);
            expect(flawsOf(demand, { bins: [bin], left: rest })).toEqual([]);
            const cheapest = demand.choice.cheapestHolding(bin.state, bin.used, [], undefined);
            expect(bin.price).toBe(demand.states.at(bin.state).price[cheapest]);
          }
        }
      }),
      { numRuns: 40 },
    );
  });
});
