import { expect, it } from 'vitest';
import { readSamples } from './samples.ts';

async function* parts(...texts: readonly string[]): AsyncIterable<string> {
  yield* texts;
}

it('reads the metrics that are wanted, however their text is cut', async () => {
  const text = parts('# HELP a_total A.\na_total{kind="x\\"y",n', 'ode="1"} 2.5\na_total_more 9\nb 1e3\nc{} 4', '\n');
  expect(await readSamples(text, new Set(['a_total', 'b', 'c']))).toEqual([
    { name: 'a_total', labels: { kind: 'x"y', node: '1' }, value: 2.5 },
    { name: 'b', labels: {}, value: 1000 },
    { name: 'c', labels: {}, value: 4 },
  ]);
});
