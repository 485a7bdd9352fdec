/** Random tight plans: with hints, all pods that the solver can place are placed in one round of buying. */
import { expect, it } from 'vitest';
import { STORIES, tightCluster, type Outcome, type Story, type Telling } from '../fixtures/engine/tightCluster.ts';

/** Of each story; more of them in a hunt. */
const HUNTED = process.env['NODEWRIGHT_PROPERTY_RUNS'];
const clustersOf = (story: Story): number => Number(HUNTED ?? (story === 'pods' ? 20 : 4));
/** Clusters that once needed two rounds. */
const FOUND: Partial<Record<Story, readonly number[]>> = {
  workloads: [15, 20],
  joins: [7, 8, 27, 81],
  arrivals: [22, 39],
  spread: [7, 11],
};
/** Pods that come while nodes boot need nodes of their own. */
const roundsOf = (story: Story): number => (story === 'arrivals' ? 2 : 1);
const TOLD: Telling = { placementHints: { schedulers: ['default-scheduler'] } };

it.each(STORIES.map((story) => [story, clustersOf(story)] as const))(
  'needs one round of buying in every cluster: %s',
  { timeout: 60_000 + Number(HUNTED ?? 20) * 15_000 },
  async (story, clusters) => {
    const failures: Record<number, Outcome> = {};
    const seeds = new Set([...Array.from({ length: clusters }, (_, seed) => seed), ...(FOUND[story] ?? [])]);
    for (const seed of seeds) {
      const outcome = await tightCluster(seed, story, TOLD);
      if (outcome.rounds > roundsOf(story) || outcome.waiting > outcome.unplaced) failures[seed] = outcome;
    }
    expect(failures).toEqual({});
  },
);

it('needs fewer rounds with spare nodes where the scheduler is not told the plan', { timeout: 300_000 }, async () => {
  const total = async (telling: Telling): Promise<Omit<Outcome, 'unplaced'>> => {
    let [rounds, waiting, price] = [0, 0, 0];
    for (let seed = 0; seed < 8; seed++) {
      const outcome = await tightCluster(seed, 'pods', telling);
      rounds += outcome.rounds;
      waiting += outcome.waiting - outcome.unplaced;
      price += outcome.price;
    }
    return { rounds, waiting, price };
  };
  const without = await total({});
  const spared = await total({ keepsSlack: true });
  expect(spared.waiting).toBe(0);
  expect(spared.rounds).toBeLessThan(without.rounds);
  expect(spared.price).toBeLessThan(without.price * 1.1);
});
