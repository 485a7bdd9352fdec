/**
 * A table of entries, played at both servers, one test each. A test fails on differences that docs/local-api-parity.md
 * does not list, and the table fails on entries there that no longer occur.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureBinaries } from '../../controlplane/binaries.ts';
import { covers, readKnownDifferences } from './knownDifferences.ts';
import { differences, type Difference } from './normalise.ts';
import { startLocalWorld, startRealWorld, type World } from './worlds.ts';

interface Suite<Entry extends { readonly name: string }> {
  readonly title: string;
  /** Of the list of accepted differences. */
  readonly heading: string;
  readonly entries: readonly Entry[];
  /** How many steps there are, and how many there must be. */
  readonly steps: number;
  readonly least: number;
  play(world: World, entry: Entry): Promise<unknown[]>;
  /** Whether it reads or changes shared objects: then it runs alone. */
  isAlone(entry: Entry): boolean;
}

/** How many entries are played at a time: they wait more than they work. */
const LANES = 4;
/** Counts from the start of all that run side by side. */
const LIMIT = 900_000;

export function compareWorlds<Entry extends { readonly name: string }>(suite: Suite<Entry>): void {
  const known = readKnownDifferences(suite.heading);
  const met = new Set<number>();
  let real: World;
  let local: World;

  beforeAll(async () => {
    real = await startRealWorld();
    local = await startLocalWorld((await ensureBinaries()).kubectl);
  }, 300_000);

  afterAll(async () => {
    await local?.stop();
    await real?.stop();
  });

  describe(`${suite.title}`, () => {
    it('are enough, under names of their own', () => {
      expect(new Set(suite.entries.map((entry) => entry.name)).size).toBe(suite.entries.length);
      expect(suite.steps).toBeGreaterThanOrEqual(suite.least);
    });

    const unexplained = async (entry: Entry): Promise<readonly Difference[]> => {
      const [ours, theirs] = await Promise.all([suite.play(local, entry), suite.play(real, entry)]);
      const found: Difference[] = [];
      for (const difference of differences(ours, theirs)) {
        const explained = known.findIndex((listed) => covers(listed, entry.name, difference));
        if (explained < 0) found.push(difference);
        else met.add(explained);
      }
      return found;
    };
    const lanes = new Lanes(LANES);
    for (const entry of suite.entries.filter((each) => suite.isAlone(each))) {
      it(`${entry.name}`, async () => {
        expect(await unexplained(entry)).toEqual([]);
      });
    }
    for (const entry of suite.entries.filter((each) => !suite.isAlone(each))) {
      it.concurrent(`${entry.name}`, { timeout: LIMIT }, async () => {
        expect(await lanes.take(() => unexplained(entry))).toEqual([]);
      });
    }

    it('meet every listed difference, so that the list can only shrink', (context) => {
      // A filtered run cannot know.
      if (context.task.file.tasks.some((task) => task.mode === 'skip')) return;
      expect(known.filter((_, index) => !met.has(index))).toEqual([]);
      expect(known.filter((listed) => listed.reason === '')).toEqual([]);
    });
  });
}

/** Runs a limited number at a time, in order. */
class Lanes {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(count: number) {
    this.free = count;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.free === 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.free -= 1;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free += 1;
      else next();
    }
  }
}
