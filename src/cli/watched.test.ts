import { describe, expect, it } from 'vitest';
import { printWatched } from './watched.ts';

describe('a watched answer', () => {
  it('is printed again only when it has changed', async () => {
    const answers = ['a', 'a', 'b', 'b', 'a'];
    const written: string[] = [];
    const end = new AbortController();
    const answer = async (): Promise<string> => {
      const next = answers.shift() ?? '';
      if (answers.length === 0) end.abort();
      return next;
    };
    const ports = { write: (text: string) => void written.push(text), wait: async () => {}, signal: end.signal };
    await printWatched(answer, true, ports);
    expect(written).toEqual(['a', 'b', 'a']);
  });

  it('is printed once without a watch', async () => {
    const written: string[] = [];
    const wait = async (): Promise<void> => {
      throw new Error('there is nothing to wait for');
    };
    await printWatched(async () => 'a', false, { write: (text) => void written.push(text), wait });
    expect(written).toEqual(['a']);
  });
});
