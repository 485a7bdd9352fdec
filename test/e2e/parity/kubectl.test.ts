/** The real kubectl at both servers: the same lines printed, the same exit codes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureBinaries } from '../../controlplane/binaries.ts';
import { runCase } from './commands/runCase.ts';
import { table } from './commands/table.ts';
import { covers, readKnownDifferences } from './knownDifferences.ts';
import { differences, type Difference } from './normalise.ts';
import { startLocalWorld, startRealWorld, type World } from './worlds.ts';

const known = readKnownDifferences('kubectl');
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

describe('kubectl', () => {
  it('is tried with enough command lines, under names of their own', () => {
    expect(new Set(table.map((one) => one.name)).size).toBe(table.length);
    const lines = table.flatMap((one) => one.commands.filter((command) => command.quiet !== true));
    expect(lines.length).toBeGreaterThanOrEqual(100);
  });

  for (const one of table) {
    it(`${one.name}`, async () => {
      const [ours, theirs] = await Promise.all([runCase(local, one), runCase(real, one)]);
      const unexplained: Difference[] = [];
      for (const difference of differences(ours, theirs)) {
        const explained = known.findIndex((entry) => covers(entry, one.name, difference));
        if (explained < 0) unexplained.push(difference);
        else met.add(explained);
      }
      expect(unexplained).toEqual([]);
    });
  }

  it('meets every listed difference, so that the list can only shrink', (context) => {
    if (context.task.file.tasks.some((task) => task.mode === 'skip')) return;
    expect(known.filter((_, index) => !met.has(index))).toEqual([]);
  });
});
