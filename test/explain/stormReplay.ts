/** A recording of a stormy day, and what replays of it say here and in a fresh clone. */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { readCluster } from '../../src/cli/compose/clusterSource.ts';
import { recordCluster } from '../../src/cli/compose/recordCluster.ts';
import { SeededRandom } from '../../src/clock/seededRandom.ts';
import { SNAPSHOT_KINDS, withoutSecretFields } from '../../src/rehearsal/snapshotFile.ts';
import type { VirtualAks } from '../fixtures/engine/virtualAks.ts';
import { freshClone, HERE, nodewrightElsewhere, type Outcome } from './commandProcess.ts';
import { liveStormyDay } from './stormyDay.ts';

export interface StormOptions {
  readonly seed: string;
  readonly hours: number;
  /** For the recording and the clone. */
  readonly folder: string;
}

/** The file that `snapshot save --for` would have written during the day. */
export async function recordStormyDay({ seed, hours, folder }: StormOptions): Promise<string> {
  const file = join(folder, 'day.json');
  const stream = createWriteStream(file, { mode: 0o600 });
  const end = new AbortController();
  let recording: Promise<void> = Promise.resolve();
  const begin = async ({ kube, clock }: VirtualAks): Promise<void> => {
    const reading = { kinds: SNAPSHOT_KINDS, keep: withoutSecretFields, now: clock.now() };
    const source = await readCluster(kube, { region: 'eastus' }, reading);
    const random = new SeededRandom(`recording of ${seed}`);
    const write = (line: string): void => void stream.write(line);
    const onError = (error: unknown): never => {
      throw error;
    };
    recording = recordCluster({ kube, clock, random, source, hashNames: false, write, onError }, end.signal);
  };
  await liveStormyDay(seed, hours, begin, (hour) => {
    if (hour === hours) end.abort();
  });
  await recording;
  stream.end();
  await finished(stream);
  return file;
}

export interface Replayed {
  readonly here: Outcome;
  readonly elsewhere: Outcome;
}

/** The same command in two processes, one of them from a fresh clone in another time zone and language. */
export async function replayTwice(folder: string, args: readonly string[]): Promise<Replayed> {
  const clone = join(folder, 'clone');
  await freshClone(clone);
  return {
    here: await nodewrightElsewhere(folder, args, { env: HERE }),
    elsewhere: await nodewrightElsewhere(folder, args, { clone }),
  };
}
