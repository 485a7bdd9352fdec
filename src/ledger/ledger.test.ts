import { describe, expect, it } from 'vitest';
import type { PodObjection } from './objection.ts';
import { objectionText } from './objectionText.ts';
import { Ledger } from './ledger.ts';
import { podList } from './podList.ts';
import { SCHEMA_VERSION, type DecisionRecord, type LaunchRecord } from './record.ts';
import { recordText } from './recordText.ts';

const refusal = (pod: string): DecisionRecord => ({
  kind: 'refusal',
  pods: podList([pod]),
  reason: { kind: 'no-pools', nodes: [] },
});
const launch: LaunchRecord = {
  kind: 'launch',
  nodeClaim: 'default-x1',
  nodePool: 'default',
  requests: { cpu: '3' },
  chosen: { instanceType: 'Standard_D4s_v5', zone: 'eastus-1', capacityType: 'spot', pricePerHour: 0.05 },
  instanceTypes: ['Standard_D4s_v5'],
  instanceTypeCount: 1,
  pods: podList(['shop/web-1', 'shop/web-2']),
  choice: { boundBy: 'shop/web-1', boundByResource: 'memory', others: [] },
};

describe('Ledger', () => {
  it('keeps the latest entries, in order, and counts the dropped', () => {
    let now = 100;
    const ledger = new Ledger({ now: () => now++, limit: 3 });
    for (const pod of ['a', 'b', 'c', 'd', 'e']) ledger.append(refusal(`shop/${pod}`));
    expect(ledger.entries().map(({ sequence, time }) => [sequence, time])).toEqual([
      [2, 102],
      [3, 103],
      [4, 104],
    ]);
    expect(ledger.entries(4)).toHaveLength(1);
    expect(ledger.entries(9)).toEqual([]);
    expect(ledger.toJSON()).toMatchObject({ schemaVersion: SCHEMA_VERSION, dropped: 2 });
  });

  it('reads back from JSON as it was written', () => {
    const ledger = new Ledger({ now: () => 1 });
    ledger.append(launch);
    ledger.append(refusal('shop/a'));
    expect(JSON.parse(JSON.stringify(ledger))).toEqual(ledger.toJSON());
  });

  it('finds what was decided about a pod, newest first', () => {
    const ledger = new Ledger({ now: () => 1 });
    ledger.append(refusal('shop/web-1'));
    ledger.append(refusal('shop/other'));
    ledger.append(launch);
    expect(ledger.aboutPod('shop/web-1').map(({ kind }) => kind)).toEqual(['launch', 'refusal']);
  });

  it('notifies subscribers until they unsubscribe', () => {
    const ledger = new Ledger({ now: () => 1 });
    const seen: number[] = [];
    const leave = ledger.subscribe(({ sequence }) => seen.push(sequence));
    ledger.append(launch);
    leave();
    ledger.append(launch);
    expect(seen).toEqual([0]);
  });

  it('names only the first pods of a decision about many', () => {
    const list = podList(Array.from({ length: 100_000 }, (_, at) => `shop/p${at}`));
    expect([list.count, list.names.length]).toEqual([100_000, 20]);
  });
});

it('reports the price of spare nodes', () => {
  const plan = { pods: 9, plannedNodes: 3, onExistingNodes: 0, unplaced: 0, pricePerHour: 0.6, milliseconds: 4 };
  expect(recordText({ kind: 'plan', ...plan, plannedNodes: 0, pricePerHour: 0, onExistingNodes: 9 })).toBe(
    'planned 9 pods: 9 on existing nodes, 0 without a place',
  );
  expect(recordText({ kind: 'plan', ...plan, spare: { nodes: 1, pricePerHour: 0.2 } })).toBe(
    'planned 9 pods: 3 new nodes at $0.6000 per hour, 0 on existing nodes, 0 without a place; 1 spare node among them at $0.2000 per hour, because placement hints are off',
  );
});

it('renders each kind of record in one line', () => {
  const records: DecisionRecord[] = [
    { kind: 'plan', pods: 3, plannedNodes: 1, onExistingNodes: 1, unplaced: 1, pricePerHour: 0.05, milliseconds: 4 },
    launch,
    { kind: 'instance', nodeClaim: 'default-x1', state: 'bought', offering: launch.chosen },
    { kind: 'instance', nodeClaim: 'default-x1', state: 'leaving' },
    { kind: 'nomination', pods: podList(['shop/a']), nodeClaim: 'default-x1', node: 'aks-1' },
    refusal('shop/a'),
    { kind: 'refusal', pods: podList(['a']), reason: { kind: 'group', group: 'g', placeable: 1, needed: 3 } },
    { kind: 'refusal', pods: podList(['a']), reason: { kind: 'reservation', pool: 'p', reservations: ['r2'] } },
    { kind: 'refusal', pods: podList(['a']), reason: { kind: 'unsupported', feature: 'dynamic-resource-claims' } },
    { kind: 'objection', pods: podList(['a']), objection: { kind: 'opted-out', label: 'karpenter.sh/nodepool' } },
  ];
  expect(records.map(recordText)).toMatchInlineSnapshot(`
    [
      "planned 3 pods: 1 new node at $0.0500 per hour, 1 on existing nodes, 1 without a place",
      "NodeClaim default-x1 of NodePool default: Standard_D4s_v5 in eastus-1, spot, $0.0500 per hour, for shop/web-1 and 1 other pod; without shop/web-1 a cheaper instance type would suffice (memory)",
      "default-x1: bought D4s_v5 in eastus-1 spot, $0.050/h",
      "default-x1: leaving",
      "shop/a on nodeclaim/default-x1, node/aks-1",
      "shop/a unschedulable: no NodePool is ready",
      "a unschedulable: only 1 of the 3 pods that group "g" needs together have a place",
      "a unschedulable: waiting: reservation r2 of NodePool "p" is used up by this plan; retrying in the next pass",
      "a unschedulable: it uses dynamic resource claims, which are not supported",
      "a ignored: it requires nodes without the label karpenter.sh/nodepool",
    ]
  `);
});

it('describes the problem of a volume claim', () => {
  const claim = (problem: object): PodObjection =>
    ({ kind: 'volume-claim', claim: 'data', ...problem }) as unknown as PodObjection;
  expect(
    [
      { problem: 'missing' },
      { problem: 'deleting' },
      { problem: 'lost' },
      { problem: 'unbound' },
      { problem: 'no-storage-class' },
      { problem: 'storage-class-missing', storageClass: 'fast' },
      { problem: 'binds-immediately', storageClass: 'fast' },
      { problem: 'volume-missing', volume: 'pv-1' },
      { problem: 'volume-deleting', volume: 'pv-1' },
    ].map((problem) => objectionText(claim(problem))),
  ).toMatchInlineSnapshot(`
    [
      "PersistentVolumeClaim "data" does not exist",
      "PersistentVolumeClaim "data" is being deleted",
      "PersistentVolumeClaim "data" has lost its volume",
      "PersistentVolumeClaim "data" is not completely bound yet",
      "PersistentVolumeClaim "data" is not bound and names no storage class",
      "PersistentVolumeClaim "data" names StorageClass "fast", which does not exist",
      "PersistentVolumeClaim "data" is not bound, and its StorageClass "fast" binds at once instead of waiting for a pod",
      "PersistentVolumeClaim "data" is bound to PersistentVolume "pv-1", which does not exist",
      "PersistentVolumeClaim "data" is bound to PersistentVolume "pv-1", which is being deleted",
    ]
  `);
});
