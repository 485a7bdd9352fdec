import { expect, it } from 'vitest';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { paperCloud, paperObjects } from '../../test/fixtures/disruption/paperObjects.ts';
import { paperPod } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { Kinds } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';
import { costText } from '../ledger/costText.ts';
import { costReportOf } from './costReportOf.ts';
import { kindKey, objectsOf } from './clusterObjects.ts';
import { nodeRows } from './nodeRows.ts';
import { rehearse } from './rehearse.ts';

const TYPES = [testType('t2', 2, 4, 0.1), testType('t8', 8, 16, 0.36)];
const cloud = paperCloud(TYPES);

function paperFleet(): PaperCluster {
  const paper = new PaperCluster();
  paper.addPool(TYPES);
  paper.addPool(TYPES, { name: 'batch' });
  paper.addNode({ name: 'a', type: 't8', pods: [paperPod('web', { cpu: '1', labels: { team: 'blue' } })] });
  paper.addNode({ name: 'b', pool: 'batch', type: 't2', capacityType: 'spot', pods: [] });
  return paper;
}

it('divides the whole bill among pools, among namespaces and among workloads', async () => {
  const report = costReportOf(await rehearse({ objects: paperObjects(paperFleet()), cloud }), 'team');
  const sum = (rows: readonly { readonly pricePerHour: number }[]): number =>
    rows.reduce((total, { pricePerHour }) => total + pricePerHour, 0);
  for (const rows of [report.pools, report.namespaces, report.workloads, report.labels?.values ?? []]) {
    expect(sum(rows)).toBeCloseTo(report.pricePerHour, 9);
  }
  expect(report.pools.map(({ name, nodes }) => [name, nodes])).toEqual([
    ['default', 1],
    ['batch', 1],
  ]);
  expect(report.workloads.map(({ name }) => name)).toEqual(['idle', 'default/Pod/web']);
  expect(report.labels?.values.map(({ name }) => name)).toEqual(['idle', 'blue']);
  expect(report.pricePerMonth).toBeCloseTo(report.pricePerHour * 730, 6);
  expect(report.spotShare).toBeGreaterThan(0);
  expect(report.idleShare).toBeGreaterThan(0.5);
  expect(report.leastPricePerHour).toBeLessThan(report.pricePerHour);
  expect(report.gapPerHour).toBeCloseTo(report.pricePerHour - report.leastPricePerHour, 9);
  expect(costText(report, ['pool', 'label'])).toContain('NODEPOOL');
});

it('has a row with price and load for each node', async () => {
  const rows = await nodeRows(paperObjects(paperFleet()), cloud);
  expect(
    rows.map(({ name, nodePool, pricePerHour, pods, status }) => [name, nodePool, pricePerHour, pods, status]),
  ).toEqual([
    ['a', 'default', 0.36, 1, 'Ready'],
    ['b', 'batch', expect.any(Number), 0, 'Ready'],
  ]);
  expect(rows[0]?.cpu).toBeGreaterThan(0.1);
  expect(rows[1]?.cpu).toBe(0);
});

it('prices a node that no pool has made as on-demand', async () => {
  const paper = paperFleet();
  const objects = paperObjects(paper);
  const [node] = objectsOf(objects, Kinds.Node);
  const { [Labels.nodePool]: _pool, [Labels.capacityType]: _type, ...labels } = node?.metadata.labels ?? {};
  const system = { ...node, metadata: { name: 'system', labels } };
  const kinds = new Map([...objects.kinds, [kindKey(Kinds.Node), [system]] as const]);
  const rows = await nodeRows({ ...objects, kinds }, cloud);
  expect(rows.map(({ nodePool, pricePerHour, capacityType }) => [nodePool, pricePerHour, capacityType])).toEqual([
    ['', 0.36, 'on-demand'],
  ]);
});
