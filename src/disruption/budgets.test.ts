import { expect, it } from 'vitest';
import type { DisruptionBudget, DisruptionReason } from '../api/kinds/nodePool.ts';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { budgetsOf, type Budgets } from './budgets.ts';

/** Thursday. */
const NOON = Date.UTC(2026, 0, 1, 12);

function budgets(entries: DisruptionBudget[], nodes = 19, now = NOON): Budgets {
  const paper = new PaperCluster();
  const pool = paper.addPool([testType('small', 2, 4, 0.1)], {
    disruption: { consolidateAfter: '0s', consolidationPolicy: 'WhenEmpty', budgets: entries },
  });
  for (let at = 0; at < nodes; at++) paper.addNode({ type: 'small' });
  return budgetsOf([pool], paper.cluster.snapshot().nodes, now);
}

const allowed = (entries: DisruptionBudget[], reason: DisruptionReason = 'Empty', nodes = 19, now = NOON): number =>
  budgets(entries, nodes, now).allowed('default', reason);

it.each<[string, DisruptionBudget[], number]>([
  ['a number', [{ nodes: '3' }], 3],
  ['a percentage rounds up', [{ nodes: '10%' }], 2],
  ['all', [{ nodes: '100%' }], 19],
  ['none', [{ nodes: '0' }], 0],
  ['the smallest counts', [{ nodes: '5' }, { nodes: '20%' }], 4],
  ['no entries limit nothing', [], 2 ** 31 - 1],
  ['an entry for another reason', [{ nodes: '1', reasons: ['Drifted'] }], 2 ** 31 - 1],
  ['an entry for this reason', [{ nodes: '1', reasons: ['Drifted', 'Empty'] }], 1],
  ['an empty list of reasons applies to none', [{ nodes: '1', reasons: [] }], 2 ** 31 - 1],
  ['a window that is open', [{ nodes: '0', schedule: '0 11 * * *', duration: '2h' }], 0],
  ['a window that is closed', [{ nodes: '0', schedule: '0 9 * * *', duration: '2h' }], 2 ** 31 - 1],
  ['the start of a window counts', [{ nodes: '0', schedule: '0 12 * * *', duration: '1h' }], 0],
  ['the end of a window does not', [{ nodes: '0', schedule: '0 11 * * *', duration: '1h' }], 2 ** 31 - 1],
  ['a window of the weekend', [{ nodes: '0', schedule: '0 0 * * sat', duration: '48h' }], 2 ** 31 - 1],
  ['a macro', [{ nodes: '1', schedule: '@daily', duration: '13h' }], 1],
])('%s', (_, entries, expected) => {
  expect(allowed(entries)).toBe(expected);
});

it.each<[DisruptionBudget, string, string]>([
  [{ nodes: '101%' }, 'nodes', '101%'],
  [{ nodes: 'many' }, 'nodes', 'many'],
  [{ nodes: '-1' }, 'nodes', '-1'],
  [{ nodes: '1', schedule: '0 0 * * tue-mon', duration: '1h' }, 'schedule', '0 0 * * tue-mon'],
  [{ nodes: '1', schedule: 'TZ=Europe/Paris 0 0 * * *', duration: '1h' }, 'schedule', 'TZ=Europe/Paris 0 0 * * *'],
  [{ nodes: '1', schedule: '@daily', duration: 'long' }, 'duration', 'long'],
  [{ nodes: '1', schedule: '@daily' }, 'duration', ''],
  [{ nodes: '1', duration: '1h' }, 'schedule', ''],
])('stops the pool for every reason when an entry is invalid: %j', (entry, field, value) => {
  const read = budgets([{ nodes: '5' }, { ...entry, reasons: ['Drifted'] }]);
  for (const reason of ['Empty', 'Drifted', 'Underutilized'] as const) expect(read.allowed('default', reason)).toBe(0);
  expect(read.of('default')?.complaints).toEqual([{ pool: 'default', index: 1, field, value }]);
});

it('counts nodes that are deleting or not ready against the budget, and ignores uninitialized ones', () => {
  const paper = new PaperCluster();
  const pool = paper.addPool([testType('small', 2, 4, 0.1)], {
    disruption: { consolidateAfter: '0s', consolidationPolicy: 'WhenEmpty', budgets: [{ nodes: '50%' }] },
  });
  for (let at = 0; at < 5; at++) paper.addNode({ type: 'small' });
  paper.addNode({ name: 'sick', type: 'small', ready: false });
  paper.addNode({ name: 'going', type: 'small' });
  paper.addNode({ name: 'coming', type: 'small', initialized: false });
  paper.cluster.markForDeletion('going');
  const read = budgetsOf([pool], paper.cluster.snapshot().nodes, NOON);
  expect(read.of('default')).toMatchObject({ nodes: 7, disrupting: 2, limit: { Empty: 4 } });
  expect(read.allowed('default', 'Empty')).toBe(2);
  expect(read.allowed('unknown', 'Empty')).toBe(0);
});
