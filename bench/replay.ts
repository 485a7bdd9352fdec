/** A stormy simulated day, recorded: it replays to the same bytes in a fresh clone. */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordStormyDay, replayTwice } from '../test/explain/stormReplay.ts';
import { numberFlag, textFlag } from './flags.ts';
import type { Bench } from './runner.ts';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

export const bench: Bench = {
  name: 'replay',
  description: 'the recording of a stormy day, replayed here and in a fresh clone [--hours 24] [--seed storm]',
  async run(flags) {
    const folder = await mkdtemp(join(tmpdir(), 'nodewright-storm-'));
    try {
      const hours = numberFlag(flags, 'hours', 24);
      const file = await recordStormyDay({ seed: textFlag(flags, 'seed', 'storm'), hours, folder });
      const text = await readFile(file, 'utf8');
      const { here, elsewhere } = await replayTwice(folder, ['replay', file, '-o', 'json']);
      const { moments } = JSON.parse(here.stdout) as { moments: readonly unknown[] };
      const isSame = here.code === 0 && here.stdout === elsewhere.stdout && here.stderr === elsewhere.stderr;
      return {
        title: `a stormy day of ${hours} h`,
        columns: ['changes', 'recording, bytes', 'moments', 'decisions here', 'in a fresh clone', 'same'],
        rows: [
          [
            text.split('\n').length - 2,
            text.length,
            moments.length,
            digest(here.stdout),
            digest(elsewhere.stdout),
            isSame ? 'yes' : 'NO',
          ],
        ],
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
