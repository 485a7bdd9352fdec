import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Results } from './results.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nodewright-results-'));
});
afterEach(() => rm(directory, { recursive: true }));

const open = (build: string, resume: boolean): Promise<Results> => Results.open(directory, build, { resume });
const outcome = (spec: string) => ({ spec, area: 'drift', passed: true, seconds: 1 });

it('goes on where a run of the same build was interrupted', async () => {
  const first = await open('one', false);
  await Promise.all(['a', 'b', 'c'].map((spec) => first.add(outcome(spec))));
  const second = await open('one', true);
  expect(second.get('b')).toEqual(outcome('b'));
  await second.add(outcome('d'));
  const stored = JSON.parse(await readFile(join(directory, 'results.json'), 'utf8')) as { outcomes: unknown[] };
  expect(stored.outcomes).toHaveLength(4);
});

it('knows nothing without being asked to go on, or of another build', async () => {
  await (await open('one', false)).add(outcome('a'));
  expect((await open('one', false)).get('a')).toBeUndefined();
  expect((await open('two', true)).get('a')).toBeUndefined();
});
