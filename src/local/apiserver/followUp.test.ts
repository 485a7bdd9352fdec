import { describe, expect, it } from 'vitest';
import { followUp } from './followUp.ts';
import { Store } from './store.ts';

describe('work after writes', () => {
  it('runs once per key, and continues after a failure, which it reports', async () => {
    const store = new Store({ historyLimit: 10 });
    const done: string[] = [];
    const stop = followUp<string>(
      store,
      (key) => {
        if (key === 'bad') throw new Error('cannot be done');
        done.push(key);
      },
      ({ key }) => [key],
    );
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    const table = store.table('', 'things');
    for (const name of ['a', 'bad', 'b', 'a']) {
      table.put(name, { apiVersion: 'v1', kind: 'Thing', metadata: { name } });
    }
    expect((await warned).message).toBe('cannot be done');
    expect(done).toEqual(['a', 'b']);
    stop();
    table.put('c', { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'c' } });
    await Promise.resolve();
    expect(done).toEqual(['a', 'b']);
  });
});
