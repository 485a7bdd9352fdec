/**
 * A process that dies at one chosen write and is started again. Whatever the write: as many instances as without the
 * accident, every pod runs, and at the end nothing is left behind.
 */
import { describe, expect, it } from 'vitest';
import { LAUNCH_AND_DRAIN, OTHER_STORIES } from './crashStories.ts';
import { failuresOf, live } from '../fixtures/engine/mortalLife.ts';
import type { Death } from '../fixtures/engine/mortality.ts';

/** Deaths of one story when it is not lived through at every write. */
const SAMPLES = 12;
const MOMENTS = ['before', 'after'] as const;

/** Every write, before and after it took effect; or as many of them as are asked for, evenly, one moment each. */
function deathsAt(count: number, samples = 2 * count): readonly Death[] {
  if (samples >= 2 * count)
    return MOMENTS.flatMap((moment) => Array.from({ length: count }, (_, at) => ({ at, moment })));
  return Array.from({ length: samples }, (_, sample) => ({
    at: Math.floor((sample * count) / samples),
    moment: MOMENTS[sample % 2] ?? 'before',
  }));
}

describe('a process that dies', { timeout: 900_000 }, () => {
  it('at any write, before or after it took effect, leaves nothing that its successor cannot mend', async () => {
    const { writes, launches } = await live(LAUNCH_AND_DRAIN);
    expect(launches).toBe(LAUNCH_AND_DRAIN.launches);
    expect(writes.length).toBeGreaterThan(20);
    expect(await failuresOf(LAUNCH_AND_DRAIN, writes, deathsAt(writes.length))).toEqual([]);
  });

  it.each(OTHER_STORIES)('does no harm to $title', async (story) => {
    const { writes, launches } = await live(story);
    expect(launches).toBe(story.launches);
    const samples = process.env['CRASH_SAMPLES'] === 'all' ? undefined : SAMPLES;
    expect(await failuresOf(story, writes, deathsAt(writes.length, samples))).toEqual([]);
  });
});
