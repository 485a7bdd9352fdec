import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { orStartAnew, WorldMemory } from './worldMemory.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nodewright-world-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const openedAt = (directory: string): WorldMemory =>
  orStartAnew(() => new WorldMemory({ directory, fresh: false, now: 0, newId: () => 'id' }));

it('goes on where the process before it ended', () => {
  openedAt(folder).reach(5_000);
  expect(openedAt(folder).state).toEqual(openedAt(folder).state);
});

it.each([
  ['garbage', 'is damaged'],
  ['null', 'was written by another version of nodewright: its format is unknown, and this version reads 1'],
])('refuses a memory of %j in one sentence', async (text, problem) => {
  await writeFile(join(folder, 'world.json'), text);
  expect(() => openedAt(folder)).toThrow(
    expect.objectContaining({ code: 'WorldUnusable', message: `${join(folder, 'world.json')} ${problem}` }) as Error,
  );
});

it('names a path that is something else', async () => {
  await writeFile(join(folder, 'quiet'), '');
  expect(() => openedAt(join(folder, 'quiet'))).toThrow(`${join(folder, 'quiet')}: something else has this name`);
  await mkdir(join(folder, 'world.json'));
  expect(() => openedAt(folder)).toThrow('this is a directory');
});
