import { expect, it } from 'vitest';
import type { Outcome } from './runSpec.ts';
import { problemsOf, strangersOf, summaryOf } from './verdict.ts';

const outcome = (spec: string, passed: boolean, complaint?: string): Outcome => ({
  spec,
  area: spec.split(' ')[0] ?? '',
  passed,
  seconds: 2,
  ...(complaint && { complaint }),
});
const NOT_YET = [{ spec: 'drift waits', reason: 'later' }];

it('is content with what passes and with what is known not to', () => {
  expect(problemsOf([outcome('chaos a', true), outcome('drift waits', false)], NOT_YET)).toEqual([]);
});

it('reports a failure that is not on the list', () => {
  const problems = problemsOf([outcome('chaos a', false, 'failed: 3 nodes')], NOT_YET);
  expect(problems).toEqual([expect.stringMatching(/does not pass: chaos a\n.*failed: 3 nodes/)]);
});

it('complains of a listed spec that passes, so that the list shrinks', () => {
  const problems = problemsOf([outcome('drift waits', true)], NOT_YET);
  expect(problems).toEqual([expect.stringContaining('take it off the list')]);
});

it('finds entries that speak of no spec', () => {
  expect(strangersOf(['chaos a'], NOT_YET)).toEqual(['drift waits']);
  expect(strangersOf(['drift waits'], NOT_YET)).toEqual([]);
});

it('counts by area', () => {
  const outcomes = [outcome('chaos a', true), outcome('drift waits', false), outcome('drift b', false)];
  expect(summaryOf(outcomes, NOT_YET)).toMatchInlineSnapshot(`
    "area             specs  passed not yet  failed  seconds
    chaos                1       1       0       0        2
    drift                2       0       1       1        4
    all                  3       1       1       1        6"
  `);
});
