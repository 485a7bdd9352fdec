import { describe, expect, it } from 'vitest';
import type { Log } from '../../kube/log.ts';
import { silentLog } from '../../kube/log.ts';
import { narrate } from './narrator.ts';
import type { WorldFacts } from './worldPicture.ts';

const facts: WorldFacts = {
  title: 'local',
  time: '09:00:00',
  nodes: [],
  running: 1,
  waiting: [],
  faults: [],
  decisions: [],
  hints: [],
};

/** Shows the world `rounds` times; `look` may fail. */
async function show(rounds: number, look: (round: number) => WorldFacts): Promise<{ text: string; logged: string[] }> {
  const stop = new AbortController();
  let round = 0;
  let text = '';
  const logged: string[] = [];
  const log: Log = { ...silentLog, error: (message) => void logged.push(message) };
  await narrate(
    {
      observer: {
        run: () => Promise.reject(new Error('watch')),
        synced: () => Promise.resolve(),
        facts: () => look(++round),
      },
      terminal: { write: (more) => void (text += more), size: undefined },
      log,
      sleep: async () => {
        if (round >= rounds) stop.abort();
        await Promise.resolve();
      },
    },
    stop.signal,
  );
  return { text, logged };
}

describe('narrate', () => {
  it('writes a line when the numbers change', async () => {
    const { text } = await show(3, (round) => ({ ...facts, running: Math.min(round, 2) }));
    expect(text).toBe(
      '09:00:00  0 nodes, 1 pod running, 0 waiting, $0.000/h\n09:00:00  0 nodes, 2 pods running, 0 waiting, $0.000/h\n',
    );
  });

  it('logs a picture that fails, and draws the next one', async () => {
    const { text, logged } = await show(2, (round) => {
      if (round === 1) throw new Error('no price');
      return facts;
    });
    expect(text).toContain('1 pod running');
    expect(logged).toEqual(['cannot draw the picture', 'cannot draw the picture']);
  });
});
