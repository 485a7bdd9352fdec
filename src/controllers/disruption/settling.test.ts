import { beforeEach, expect, it } from 'vitest';
import { VirtualClock } from '../../clock/virtualClock.ts';
import type { Candidate } from '../../disruption/candidate.ts';
import { Settling } from './settling.ts';

const START = Date.UTC(2026, 0, 1);
const ago = (milliseconds: number): string => new Date(START - milliseconds).toISOString();

/** A node whose last pod event was this many milliseconds ago. */
function node(quiet: number, consolidateAfter = '30s', isConsolidatable = false): Candidate {
  const conditions = [
    { type: 'Initialized', status: 'True', lastTransitionTime: ago(3_600_000) },
    ...(isConsolidatable ? [{ type: 'Consolidatable', status: 'True' }] : []),
  ];
  return {
    pool: { spec: { disruption: { consolidateAfter } } },
    view: { claim: { status: { lastPodEventTime: ago(quiet), conditions } } },
  } as unknown as Candidate;
}

let clock: VirtualClock;
let settling: Settling;
beforeEach(() => {
  clock = new VirtualClock(START);
  settling = new Settling(clock);
});

it.each([
  ['has settled', node(40_000, '30s', true)],
  ['will not settle soon', node(10_000)],
  ['settles at once', node(0, '0s')],
  ['never settles', node(10_000, 'Never')],
  ['should have settled long ago', node(60_000)],
])('waits for no node that %s', (_, candidate) => {
  expect(settling.wait([candidate])).toBe(0);
});

it('waits for a node that is about to settle, or whose condition is about to be written', () => {
  expect(settling.wait([node(40_000, '30s', true), node(28_500)])).toBeGreaterThan(0);
  expect(settling.wait([node(30_100)])).toBeGreaterThan(0);
});

it('stops waiting after a while even if other nodes keep settling', async () => {
  const looks: number[] = [];
  for (let second = 0; second < 8; second++) {
    looks.push(settling.wait([node(30_000 - 1_000 * second)]));
    await clock.advance(1_000);
  }
  expect(looks.map((wait) => wait > 0)).toEqual([true, true, true, false, false, false, false, true]);
});
