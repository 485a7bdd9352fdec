/** Every request script at both servers: equal answers, but for the differences that the docs list with a reason. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureBinaries } from '../../controlplane/binaries.ts';
import { covers, readKnownDifferences } from './knownDifferences.ts';
import { differences, Normaliser, type Difference } from './normalise.ts';
import { namespaceFor, play, type Script } from './script.ts';
import { customResourceScripts } from './scripts/customResources.ts';
import { deletingScripts } from './scripts/deleting.ts';
import { discoveryScripts } from './scripts/discovery.ts';
import { readingScripts } from './scripts/reading.ts';
import { subresourceScripts } from './scripts/subresources.ts';
import { tableScripts } from './scripts/tables.ts';
import { validationScripts } from './scripts/validation.ts';
import { writingScripts } from './scripts/writing.ts';
import { startLocalWorld, startRealWorld, type World } from './worlds.ts';

const scripts: readonly Script[] = [
  ...discoveryScripts,
  ...readingScripts,
  ...writingScripts,
  ...deletingScripts,
  ...subresourceScripts,
  ...tableScripts,
  ...customResourceScripts,
  ...validationScripts,
];
const known = readKnownDifferences('Requests');
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

async function normalised(world: World, one: Script, namespace: string): Promise<unknown[]> {
  const normaliser = new Normaliser(world.url);
  const answers = await play(world, one, namespace);
  return answers.map((answer) => (answer === undefined ? undefined : normaliser.answer(answer)));
}

describe('request scripts', () => {
  it('have names of their own, and there are enough of them', () => {
    expect(new Set(scripts.map((one) => one.name)).size).toBe(scripts.length);
    expect(scripts.length).toBeGreaterThanOrEqual(150);
  });

  for (const one of scripts) {
    it(`${one.name}`, async () => {
      const namespace = namespaceFor(one);
      const [ours, theirs] = [await normalised(local, one, namespace), await normalised(real, one, namespace)];
      const unexplained: Difference[] = [];
      for (const difference of differences(ours, theirs)) {
        const explained = known.findIndex((entry) => covers(entry, one.name, difference));
        if (explained < 0) unexplained.push(difference);
        else met.add(explained);
      }
      expect(unexplained).toEqual([]);
    });
  }

  it('meet every listed difference, so that the list can only shrink', (context) => {
    // A filtered run cannot know.
    if (context.task.file.tasks.some((task) => task.mode === 'skip')) return;
    expect(known.filter((_, index) => !met.has(index))).toEqual([]);
    expect(known.filter((entry) => entry.reason === '')).toEqual([]);
  });
});
