import { expect, it } from 'vitest';
import { costIncreaseText } from './changeReportText.ts';

it('says how much dearer the cluster gets, also where it cost nothing before', () => {
  expect(costIncreaseText(12.34, 5)).toBe('the cluster costs 12.3 % more, which is above 5 %');
  expect(costIncreaseText(Number.POSITIVE_INFINITY, 5)).toBe(
    'the cluster costs nothing before and something after, which is above 5 %',
  );
});
