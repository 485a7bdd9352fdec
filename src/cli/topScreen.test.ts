import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { NodeRow } from '../rehearsal/nodeRows.ts';
import { topScreen, type TopView } from './topScreen.ts';
import { runTop } from './topTerminal.ts';

const row = (name: string, more: Partial<NodeRow> = {}): NodeRow => ({
  name,
  nodePool: 'general',
  instanceType: 'Standard_D4s_v5',
  zone: 'eastus-1',
  capacityType: 'on-demand',
  pricePerHour: 0.2,
  cpu: 0.5,
  memory: 0.25,
  pods: 7,
  maxPods: 110,
  age: 3 * 3_600_000,
  status: 'Ready',
  labels: { team: 'blue' },
  ...more,
});
const ROWS = [row('b', { pricePerHour: 0.1, labels: { team: 'red' } }), row('a'), row('c', { nodePool: 'batch' })];
const VIEW: TopView = { sort: 'name', reverse: false, filter: '', offset: 0 };
const namesIn = (text: string): string[] => [...text.matchAll(/^([abc]) {2}/gm)].map(([, name]) => name ?? '');

describe('the screen', () => {
  it('is never wider than the terminal: first bars are dropped, then the last columns', () => {
    const widest = (width: number): number =>
      Math.max(
        ...topScreen(ROWS, { ...VIEW, width })
          .split('\n')
          .map(({ length }) => length),
      );
    expect(topScreen(ROWS, { ...VIEW, width: 200 })).toBe(topScreen(ROWS, VIEW));
    for (const width of [110, 90, 60]) expect(widest(width)).toBeLessThanOrEqual(width);
    expect(topScreen(ROWS, { ...VIEW, width: 110 })).toMatch(/███░░ {2}50% .* \$0\.2000 {2}3h {3}Ready/);
    expect(topScreen(ROWS, { ...VIEW, width: 95 })).toMatch(/general {3}50% .* Ready/);
  });

  it('has totals and a line for each node', () => {
    expect(topScreen(ROWS, VIEW)).toMatchInlineSnapshot(`
      "3 nodes  21 pods  $0.5000/h  $365/month
      cpu █████░░░░░  50%  memory ███░░░░░░░  25%

      NAME ^  POOL     CPU              MEMORY           PODS              TYPE    ZONE      CAPACITY   PRICE    AGE  STATUS
      a       general  █████░░░░░  50%  ███░░░░░░░  25%  █░░░░░░░░░ 7/110  D4s_v5  eastus-1  on-demand  $0.2000  3h   Ready
      b       general  █████░░░░░  50%  ███░░░░░░░  25%  █░░░░░░░░░ 7/110  D4s_v5  eastus-1  on-demand  $0.1000  3h   Ready
      c       batch    █████░░░░░  50%  ███░░░░░░░  25%  █░░░░░░░░░ 7/110  D4s_v5  eastus-1  on-demand  $0.2000  3h   Ready
      "
    `);
  });

  it.each([
    ['name', false, '', ['a', 'b', 'c']],
    ['price', false, '', ['b', 'a', 'c']],
    ['price', true, '', ['a', 'c', 'b']],
    ['name', false, 'batch', ['c']],
    ['name', false, 'pool=general', ['a', 'b']],
    ['name', false, 'team=blue', ['a', 'c']],
    ['name', false, 'team=blue pool=general', ['a']],
    ['team', false, '', ['a', 'c', 'b']],
    ['team', true, '', ['b', 'a', 'c']],
  ] as const)('sorted by %s (reverse %s) and filtered by "%s" shows %j', (sort, reverse, filter, names) => {
    expect(namesIn(topScreen(ROWS, { ...VIEW, sort, reverse, filter }))).toEqual(names);
  });

  it('has a column for the label that it is sorted by', () => {
    const lines = topScreen(ROWS, { ...VIEW, sort: 'team' })
      .split('\n')
      .slice(3, -1);
    // Beside the name, so that a narrow terminal has it too.
    expect(lines.map((line) => /^\S+ +\S+( \^)?/.exec(line)?.[0].replaceAll(/ +/g, ' '))).toEqual([
      'NAME team ^',
      'a blue',
      'c blue',
      'b red',
    ]);
  });

  it('says how many nodes do not fit', () => {
    const text = topScreen(ROWS, { ...VIEW, height: 1, offset: 1 });
    expect(namesIn(text)).toEqual(['b']);
    expect(text).toContain('… 1 more node');
  });
});

it('follows the keys on a terminal, and leaves it as it was', async () => {
  const keys = new EventEmitter();
  let screen = '';
  const written: string[] = [];
  const modes: boolean[] = [];
  const input = Object.assign(keys, {
    setRawMode: (mode: boolean) => modes.push(mode),
    resume: () => keys,
    pause: () => keys,
  });
  const output = Object.assign(new EventEmitter(), {
    rows: 24,
    columns: 200,
    write: (text: string) => {
      written.push(text);
      screen = text;
      return true;
    },
  });
  let looked = (): void => {};
  const seen = new Promise<void>((resolve) => (looked = resolve));
  const look = async (): Promise<readonly NodeRow[]> => {
    setImmediate(looked);
    return ROWS;
  };
  const running = runTop({ look, view: VIEW, interval: 60_000, input: input as never, output: output as never });
  await seen;
  const press = (text: string, name = text): void => void keys.emit('keypress', text, { name });
  expect(namesIn(screen)).toEqual(['a', 'b', 'c']);
  press('r');
  expect(namesIn(screen)).toEqual(['c', 'b', 'a']);
  press('/');
  for (const letter of 'batch') press(letter);
  expect(namesIn(screen)).toEqual(['c']);
  press('', 'escape');
  expect(namesIn(screen)).toEqual(['c', 'b', 'a']);
  press('q');
  await running;
  expect(modes).toEqual([true, false]);
  expect(written.at(-1)).toContain('\u001B[?1049l');
});
