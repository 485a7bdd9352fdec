import { describe, expect, it } from 'vitest';
import type { Candidate } from './candidate.ts';
import { mostNet, paybackCause, paybackOf } from './payback.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 0, 1);
const ago = (milliseconds: number): string => new Date(NOW - milliseconds).toISOString();

function node(age: number, podAges: readonly number[], consolidateAfter = '0s'): Candidate {
  return {
    view: { claim: { metadata: { creationTimestamp: ago(age) } } },
    pool: { metadata: { name: 'default' }, spec: { disruption: { consolidateAfter } } },
    pricePerHour: 1,
    pods: podAges.map((each, at) => ({ metadata: { name: `p${at}`, creationTimestamp: ago(each) }, spec: {} })),
  } as unknown as Candidate;
}

const moment = (calm?: number, podPrice = 0.1) => ({
  now: NOW,
  podPrices: new Map([['default', podPrice]]),
  calmFor: () => calm,
});
const payback = (candidate: Candidate, replacementPrice: number, calm?: number) =>
  paybackOf({ candidates: [candidate], replacementPrice }, moment(calm));

describe('the cost of a move', () => {
  it('is the price of the pods for a few minutes', () => {
    const costAt = (podPrice: number) =>
      paybackOf({ candidates: [node(HOUR, [HOUR, HOUR])], replacementPrice: 0 }, moment(undefined, podPrice)).cost;
    expect(costAt(0.6)).toBeGreaterThan((2 * 0.6) / 60);
    expect(costAt(0.6)).toBeLessThan((2 * 0.6) / 10);
    expect(costAt(0.06)).toBeCloseTo(costAt(0.6) / 10);
  });

  it('is higher in a pool with a consolidateAfter', () => {
    const eager = payback(node(HOUR, [HOUR, HOUR]), 0).cost;
    expect(payback(node(HOUR, [HOUR, HOUR], '30s'), 0).cost).toBeGreaterThan(1.3 * eager);
  });

  it('includes the time that old and new nodes run in parallel', () => {
    expect(payback(node(HOUR, []), 0).cost).toBe(0);
    expect(payback(node(HOUR, []), 0.6).cost).toBeCloseTo(0.02);
  });
});

describe('the time for which savings count', () => {
  it.each([
    ['an hour for nodes that are new', 1_000, undefined, 1],
    ['as long again as the node has been there', 3 * HOUR, undefined, 3],
    ['no more than half a day', 100 * HOUR, undefined, 12],
    ['no longer than demand stays away', 3 * HOUR, HOUR / 60, 1 / 60],
  ])('is %s', (_, age, calm, hours) => {
    expect(payback(node(age, []), 0.5, calm).hours).toBeCloseTo(hours);
  });

  it('is shorter for new nodes of a pool with a consolidateAfter', () => {
    expect(payback(node(1_000, [], '30s'), 0.5).hours).toBeCloseTo(0.03, 3);
    expect(payback(node(3 * HOUR, [], '30s'), 0.5).hours).toBeCloseTo(3);
  });
});

describe('a move that does not pay', () => {
  const causeOf = (candidate: Candidate, replacementPrice: number) =>
    paybackCause(payback(candidate, replacementPrice), candidate.pricePerHour)?.kind;

  it('replaces a node that is seconds old for a few per cent', () => {
    expect(causeOf(node(30_000, []), 0.97)).toBe('no-payback');
    expect(causeOf(node(30_000, []), 0.9)).toBeUndefined();
    expect(causeOf(node(10 * HOUR, []), 0.97)).toBeUndefined();
  });

  it('evicts many pods for little', () => {
    const pods = Array.from({ length: 100 }, () => HOUR);
    expect(causeOf(node(HOUR, pods), 0.9)).toBe('no-payback');
    expect(causeOf(node(HOUR, pods.slice(0, 5)), 0.9)).toBeUndefined();
  });
});

describe('the upper limit of the net gain', () => {
  it.each([
    ['alone', [node(3 * HOUR, [HOUR])]],
    ['with a younger node', [node(3 * HOUR, [HOUR]), node(60_000, [HOUR, 60_000])]],
    ['with a node of a pool that waits', [node(HOUR / 2, [HOUR]), node(HOUR / 2, [60_000], '30s')]],
  ])('is never below the final net gain, %s', (_, candidates) => {
    const most = candidates.reduce((sum, candidate) => sum + mostNet(candidate, moment()), 0);
    for (const replacementPrice of [0, 0.1, 1]) {
      expect(paybackOf({ candidates, replacementPrice }, moment()).net).toBeLessThanOrEqual(most + 1e-12);
    }
  });
});
