import { expect, it } from 'vitest';
import type { Outcome } from './runSpec.ts';
import { problemsOf, summaryOf } from './verdict.ts';

const outcome = (spec: string, passed: boolean, complaint?: string): Outcome => ({
  spec,
  area: spec.split(' ')[0] ?? '',
  passed,
  seconds: 2,
  ...(complaint && { complaint }),
});

it('is content with what passes, and says why a spec did not', () => {
  expect(problemsOf([outcome('drift waits', true)])).toEqual([]);
  const problems = problemsOf([outcome('chaos a', false, 'failed: 3 nodes'), outcome('drift waits', true)]);
  expect(problems).toEqual([expect.stringMatching(/does not pass: chaos a\n.*failed: 3 nodes/)]);
});

it('counts by area', () => {
  const outcomes = [outcome('chaos a', true), outcome('drift waits', true), outcome('drift b', false)];
  expect(summaryOf(outcomes)).toMatchInlineSnapshot(`
    "area             specs  passed  failed  seconds
    chaos                1       1       0        2
    drift                2       1       1        4
    all                  3       2       1        6"
  `);
});
