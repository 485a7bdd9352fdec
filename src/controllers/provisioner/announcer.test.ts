import { describe, expect, it } from 'vitest';
import { silentLog } from '../../kube/log.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { Announcer } from './announcer.ts';

const NOTHING = { pods: 2, plannedNodes: 0, onExistingNodes: 0, unplaced: 2, pricePerHour: 0, milliseconds: 3 };

describe('plans in the ledger', () => {
  it('are recorded when they change something or find something new', () => {
    const ledger = new Ledger({ now: () => 0 });
    const announcer = new Announcer({ ledger, log: silentLog, events: { publish: () => {} } });
    announcer.plan(NOTHING);
    announcer.plan({ ...NOTHING, milliseconds: 9 });
    announcer.plan({ ...NOTHING, pods: 3, unplaced: 3 });
    announcer.plan({ ...NOTHING, pods: 3, unplaced: 2, onExistingNodes: 1 });
    announcer.plan({ ...NOTHING, pods: 3, unplaced: 2, onExistingNodes: 1 });
    announcer.plan(NOTHING);
    const told = ledger.entries().flatMap((entry) => (entry.kind === 'plan' ? [[entry.pods, entry.unplaced]] : []));
    expect(told).toEqual([
      [2, 2],
      [3, 3],
      [3, 2],
      [3, 2],
      [2, 2],
    ]);
  });
});

describe('refusals in the ledger', () => {
  it('are recorded when they are new, and again after a while', () => {
    const ledger = new Ledger({ now: () => 0 });
    const announcer = new Announcer({ ledger, log: silentLog, events: { publish: () => {} } });
    const pass = (name: string, nodes: number): void => {
      const reason = { kind: 'no-pools', nodes: [{ stage: 'resources', nodes, example: 'n' }] } as const;
      announcer.objections([{ pod: { metadata: { name: 'odd' } }, objection: { kind: 'opted-out', label: 'x' } }]);
      announcer.refusals([{ pod: { metadata: { name } }, reason }]);
    };
    const told = (): string =>
      ledger
        .entries()
        .map(({ kind }) => kind[0])
        .join('');
    for (let nodes = 0; nodes < 12; nodes++) pass('web', nodes);
    expect(told()).toBe('or');
    pass('web', 12);
    expect(told()).toBe('oror');
    pass('other', 1);
    expect(told()).toBe('ororr');
  });
});
