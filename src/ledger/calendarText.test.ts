import { expect, it } from 'vitest';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { calendarOf } from '../disruption/calendar.ts';
import { calendarText } from './calendarText.ts';

const DAY = 24 * 3_600_000;

it('prints what budgets allow, period by period, and what expires', () => {
  const paper = new PaperCluster();
  const pool = paper.addPool([testType('small', 2, 4, 0.1)], {
    disruption: {
      consolidateAfter: '0s',
      consolidationPolicy: 'WhenEmpty',
      budgets: [
        { nodes: '5', reasons: ['Empty', 'Underutilized'] },
        { nodes: '0', reasons: ['Underutilized'], schedule: '0 9 * * *', duration: '8h' },
      ],
    },
  });
  paper.addNode({ name: 'aging', type: 'small', age: 100, spec: { expireAfter: '110h' } });
  const views = paper.cluster.snapshot().nodes;
  const calendar = calendarOf({ pools: [pool], views, from: paper.now, until: paper.now + DAY });
  expect(calendarText(calendar)).toMatchInlineSnapshot(`
    "NODEPOOL  FROM (UTC)        UNTIL             EMPTY  UNDERUTILIZED  DRIFTED
    default   2026-01-01 00:00  2026-01-01 09:00  5      5              any
    default   2026-01-01 09:00  2026-01-01 17:00  5      0              any
    default   2026-01-01 17:00  2026-01-02 00:00  5      5              any

    EXPIRES (UTC)     NODEPOOL  NODECLAIM
    2026-01-01 10:00  default   aging
    "
  `);
  expect(calendarText({ ...calendar, pools: [], expiries: [], omitted: 2 })).toMatchInlineSnapshot(`
    "There are no NodePools.
    incomplete: there are too many periods or expiries (2 left out)
    "
  `);
});
