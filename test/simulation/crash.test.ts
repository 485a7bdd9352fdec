/**
 * A process that crashes at one chosen write and is restarted. Whatever the write: the same number of instances as
 * without the crash, every pod runs, and at the end nothing is left.
 */
import { describe, expect, it } from 'vitest';
import { LAUNCH_AND_DRAIN, OTHER_SCENARIOS } from './crashScenarios.ts';
import { DISRUPTION_SCENARIOS } from './disruptionCrashes.ts';
import { failuresOf, runWithCrash } from '../fixtures/engine/crashRun.ts';
import type { Crash } from '../fixtures/engine/crashableProcess.ts';

/** Crashes of one scenario when it is not played with a crash at every write. */
const SAMPLES = 12;
const MOMENTS = ['before', 'after'] as const;

/** Every write, before and after it took effect; or as many of them as are asked for, evenly, one moment each. */
function crashesAt(count: number, samples = 2 * count): readonly Crash[] {
  if (samples >= 2 * count)
    return MOMENTS.flatMap((moment) => Array.from({ length: count }, (_, at) => ({ at, moment })));
  return Array.from({ length: samples }, (_, sample) => ({
    at: Math.floor((sample * count) / samples),
    moment: MOMENTS[sample % 2] ?? 'before',
  }));
}

describe('a process that crashes', { timeout: 900_000 }, () => {
  it('at any write, before or after it took effect, leaves nothing that its successor cannot repair', async () => {
    const { writes, launches } = await runWithCrash(LAUNCH_AND_DRAIN);
    expect(launches).toBe(LAUNCH_AND_DRAIN.launches);
    expect(writes.length).toBeGreaterThan(20);
    expect(await failuresOf(LAUNCH_AND_DRAIN, writes, crashesAt(writes.length))).toEqual([]);
  });

  it.each(OTHER_SCENARIOS)('does no harm to $title', async (scenario) => {
    const { writes, launches } = await runWithCrash(scenario);
    expect(launches).toBe(scenario.launches);
    const samples = process.env['CRASH_SAMPLES'] === 'all' ? undefined : SAMPLES;
    expect(await failuresOf(scenario, writes, crashesAt(writes.length, samples))).toEqual([]);
  });

  // What is there after a write is what is there before the next one: one moment is enough.
  it.each(DISRUPTION_SCENARIOS)('at any write of a disruption command does no harm to $title', async (scenario) => {
    const { writes, disrupting, launches } = await runWithCrash(scenario);
    expect(launches).toBe(scenario.launches);
    expect(disrupting.length).toBeGreaterThan(5);
    const crashes =
      process.env['CRASH_SAMPLES'] === 'all'
        ? crashesAt(writes.length)
        : disrupting.map((at): Crash => ({ at, moment: 'after' }));
    expect(await failuresOf(scenario, writes, crashes)).toEqual([]);
  });
});
