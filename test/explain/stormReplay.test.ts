import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Decisions } from '../../src/rehearsal/decisionsOf.ts';
import { nodewright } from './commandRun.ts';
import { recordStormyDay, replayTwice, type Replayed } from './stormReplay.ts';

/** The first hours of the day that `npm run bench -- replay` lives through. */
const HOURS = 2;
/** Milliseconds: processes start slowly on a busy machine. */
const PATIENCE = 1_200_000;
const MINUTE = 60_000;

describe('a recording of a stormy day', { timeout: PATIENCE }, () => {
  let folder = '';
  let file = '';
  let replayed: Replayed;
  let moments: readonly Decisions[] = [];
  const replay = async (...args: readonly string[]): Promise<Decisions> => {
    const { code, stdout, stderr } = await nodewright('replay', file, ...args, '-o', 'json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout) as Decisions;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nodewright-storm-'));
    file = await recordStormyDay({ seed: 'storm', hours: HOURS, folder });
    replayed = await replayTwice(folder, ['replay', file, '--every', '20m', '-o', 'json']);
    moments = (JSON.parse(replayed.here.stdout) as { moments: readonly Decisions[] }).moments;
  }, PATIENCE);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('replays to the same bytes in another process, from a fresh clone', () => {
    expect(replayed.here).toMatchObject({ code: 0, stderr: '' });
    expect(replayed.elsewhere).toEqual(replayed.here);
    expect(moments).toHaveLength(HOURS * 3 + 1);
    const last = moments.at(-1);
    expect(last?.refusals.map(({ pod }) => pod)).toContainEqual(expect.stringMatching(/^default\/lost-/));
    expect(last?.nodes.length).toBeGreaterThan(0);
    expect(new Set(moments.map(({ nodes }) => nodes.map(({ nodeClaim }) => nodeClaim).join())).size).toBeGreaterThan(2);
  });

  it('stops at the time that it is asked about: nothing after it counts', async () => {
    const third = moments[3] as Decisions;
    expect(await replay('--at', third.time)).toEqual(third);
    const lines = (await readFile(file, 'utf8')).split('\n');
    const isBefore = (line: string, at: number): boolean =>
      at === 0 || (line !== '' && (JSON.parse(line) as { time: string }).time <= third.time);
    const cut = join(folder, 'cut.json');
    await writeFile(cut, `${lines.filter(isBefore).join('\n')}\n{"time":"2026-01-05T1`);
    const fromCut = await nodewright('replay', cut, '--at', third.time, '-o', 'json');
    expect(JSON.parse(fromCut.stdout)).toEqual(third);
  });

  it('goes on as if nothing had changed after its end, and knows nothing of before its begin', async () => {
    const { time } = moments.at(-1) as Decisions;
    const later = new Date(Date.parse(time) + 24 * 60 * MINUTE).toISOString();
    expect(Date.parse((await replay('--at', later)).time) - Date.parse(time)).toBe(24 * 60 * MINUTE);
    const early = await nodewright('replay', file, '--at', '2020-01-01T00:00:00Z');
    expect(early.code).toBe(2);
    expect(early.stderr).toContain('BeforeRecording');
  });

  it('is a cluster that other commands look at as it was at the end', async () => {
    const { stdout } = await nodewright('top', '--once', '-o', 'json', '--snapshot', file);
    const { nodes } = JSON.parse(stdout) as { nodes: readonly { nodePool: string }[] };
    const own = nodes.filter(({ nodePool }) => nodePool === 'default');
    // Claims whose machines are still on the way are decided about, too, but are no nodes yet.
    const joined = moments
      .at(-1)
      ?.nodes.filter(({ fate }) => fate.kind !== 'kept' || fate.kept.cause.kind !== 'no-node');
    expect(own.length).toBeGreaterThan(0);
    expect(own).toHaveLength(joined?.length ?? 0);
  });
});
