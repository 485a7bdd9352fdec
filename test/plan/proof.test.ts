import { describe, expect, it } from 'vitest';
import { isRight, proveChange, type PlanVerdict } from './proof.ts';

/** The first of those that `npm run bench -- plan` makes. */
const CHANGES = 12;

describe('plan, of random changes of a cluster with a running controller', { timeout: 1_800_000 }, () => {
  it('says which nodes drift, go and come, and what the cluster costs then', async () => {
    const verdicts: PlanVerdict[] = [];
    for (let at = 0; at < CHANGES; at++) verdicts.push(await proveChange(`plan-${at}`));
    expect(verdicts.filter((verdict) => !isRight(verdict))).toEqual([]);
    const moved = verdicts.filter(({ happened: { removed, added } }) => removed.length + added.length > 0);
    expect(moved.length).toBeGreaterThan(CHANGES / 3);
  });

  it.each([
    ['pods of a rollout that the scheduler puts on the emptiest node', 'tenth-15'],
    ['pods of a rollout that come while old ones still hold their room', 'tenth-16'],
    ['nodes of a rollout that are joined once they have lived for a while', 'tenth-94'],
  ])('foresees %s', async (_, seed) => {
    const { planned, happened } = await proveChange(seed);
    expect(planned).toEqual(happened);
  });
});
