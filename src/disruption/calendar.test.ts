import { expect, it } from 'vitest';
import type { DisruptionBudget } from '../api/kinds/nodePool.ts';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { budgetsOf } from './budgets.ts';
import { calendarOf, type Calendar } from './calendar.ts';

const HOUR = 3_600_000;

function calendar(budgets: DisruptionBudget[], hours = 48): { readonly paper: PaperCluster; readonly value: Calendar } {
  const paper = new PaperCluster();
  const pool = paper.addPool([testType('small', 2, 4, 0.1)], {
    disruption: { consolidateAfter: '0s', consolidationPolicy: 'WhenEmpty', budgets },
  });
  for (let at = 0; at < 10; at++) paper.addNode({ type: 'small' });
  paper.addNode({ name: 'old', type: 'small', age: 100, spec: { expireAfter: '90h' } });
  paper.addNode({ name: 'aging', type: 'small', age: 100, spec: { expireAfter: '110h' } });
  paper.addNode({ name: 'young', type: 'small', age: 1, spec: { expireAfter: '720h' } });
  const views = paper.cluster.snapshot().nodes;
  return { paper, value: calendarOf({ pools: [pool], views, from: paper.now, until: paper.now + hours * HOUR }) };
}

it('shows what budgets allow, period by period', () => {
  const { value, paper } = calendar([
    { nodes: '20%' },
    { nodes: '0', schedule: '0 9 * * *', duration: '8h', reasons: ['Drifted', 'Underutilized'] },
  ]);
  const open = { Underutilized: 3, Empty: 3, Drifted: 3 };
  const closed = { Underutilized: 0, Empty: 3, Drifted: 0 };
  const at = (hours: number): number => paper.now + hours * HOUR;
  expect(value.pools).toEqual([
    {
      pool: 'default',
      periods: [
        { from: at(0), until: at(9), allowed: open },
        { from: at(9), until: at(17), allowed: closed },
        { from: at(17), until: at(33), allowed: open },
        { from: at(33), until: at(41), allowed: closed },
        { from: at(41), until: at(48), allowed: open },
      ],
    },
  ]);
});

it('has one period where nothing changes, and null where nothing is limited', () => {
  const { value } = calendar([{ nodes: '5', reasons: ['Empty'] }]);
  expect(value.pools[0]?.periods.map(({ allowed }) => allowed)).toEqual([
    { Underutilized: null, Empty: 5, Drifted: null },
  ]);
});

it('lists expiring claims, overdue ones first', () => {
  const { value, paper } = calendar([]);
  expect(value.expiries).toEqual([
    { nodeClaim: 'old', nodePool: 'default', at: paper.now },
    { nodeClaim: 'aging', nodePool: 'default', at: paper.now + 10 * HOUR },
  ]);
});

it('is bounded, and counts what it leaves out', () => {
  const { value } = calendar([{ nodes: '1', schedule: '*/2 * * * *', duration: '1m' }], 24 * 30);
  expect(value.pools[0]?.periods).toHaveLength(1_000);
  expect(value.omitted).toBe(1);
});

it('agrees with the budgets at every moment', () => {
  const { value, paper } = calendar(
    [
      { nodes: '3' },
      { nodes: '1', schedule: '30 4 * * thu', duration: '5h' },
      { nodes: '10%', schedule: '@daily', duration: '5h30m', reasons: ['Empty'] },
    ],
    72,
  );
  const [pool] = [...paper.pools.values()].map((each) => each.pool);
  const views = paper.cluster.snapshot().nodes;
  for (let at = paper.now; at < paper.now + 72 * HOUR; at += HOUR / 4) {
    const period = value.pools[0]?.periods.find(({ from, until }) => from <= at && at < until);
    const limit = budgetsOf(pool ? [pool] : [], views, at).of('default')?.limit;
    expect(period?.allowed).toEqual(limit);
  }
});
