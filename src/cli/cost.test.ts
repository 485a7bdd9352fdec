import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliCluster } from '../../test/fixtures/local/cliCluster.ts';
import { Kinds } from '../api/kinds.ts';
import type { CostReport } from '../ledger/costReport.ts';
import type { OpenCostAnswer } from '../rehearsal/openCostOf.ts';

let cluster: CliCluster;

const asking = (cpu: string) => ({
  containers: [{ name: 'main', image: 'x', resources: { requests: { cpu, memory: '7Gi' } } }],
});
const owned = {
  labels: { team: 'blue', 'pod-template-hash': 'abc' },
  ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'shop-abc', uid: 'u', controller: true }],
};

beforeAll(async () => {
  cluster = await CliCluster.start();
  await cluster.addPool('default');
  await cluster.addPool('spot');
  await cluster.create(Kinds.Namespace, { metadata: { name: 'shop' } });
  await cluster.addNode({
    name: 'one',
    pool: 'default',
    pods: [
      { name: 'shop-1', object: { metadata: { namespace: 'shop', ...owned }, spec: asking('3900m') } },
      { name: 'alone', object: { spec: asking('1950m') } },
    ],
  });
  await cluster.addNode({ name: 'two', pool: 'spot', capacityType: 'spot' });
});

afterAll(async () => {
  await cluster.stop();
});

const costs = async <T>(...args: readonly string[]): Promise<T> => {
  const { code, stdout } = await cluster.nodewright(['cost', ...args]);
  expect(code).toBe(0);
  return JSON.parse(stdout) as T;
};

/** The list price of Standard_D8s_v5 in East US. */
const PRICE = 0.384;

describe('nodewright cost', { timeout: 180_000 }, () => {
  it('divides the bill by pool, namespace, workload and label, and says what is spot, idle and held', async () => {
    const report = await costs<CostReport>('-o', 'json', '--label', 'team');
    const by = (rows: CostReport['pools']) => Object.fromEntries(rows.map((row) => [row.name, row.pricePerHour]));
    const spot = report.pricePerHour - PRICE;
    expect(spot).toBeGreaterThan(0);
    expect(by(report.pools)['default']).toBeCloseTo(PRICE, 9);
    // Half of its node's cpu and a quarter of its memory; a quarter of both.
    expect(by(report.namespaces)['shop']).toBeCloseTo(PRICE * 0.375, 9);
    expect(by(report.namespaces)['default']).toBeCloseTo(PRICE * 0.25, 9);
    expect(by(report.workloads)['shop/Deployment/shop']).toBeCloseTo(PRICE * 0.375, 9);
    expect(by(report.labels?.values ?? [])['blue']).toBeCloseTo(PRICE * 0.375, 9);
    expect(report.spotShare).toBeCloseTo(spot / report.pricePerHour, 9);
    expect(report.idleShare).toBeCloseTo((spot + PRICE * 0.375) / report.pricePerHour, 9);
    expect(report.gapPerHour).toBeCloseTo(report.pricePerHour - report.leastPricePerHour, 9);
    expect(report.leastPricePerHour).toBeGreaterThan(0);
    const held = report.backlog.flatMap(({ blockers }) => blockers);
    expect(held.map(({ example }) => example)).toContain('one');
    for (const { savingsPerHour } of held) expect(savingsPerHour).toBeGreaterThanOrEqual(0);
    const { stdout } = await cluster.nodewright(['cost', '--by', 'pool,workload']);
    expect(stdout).toContain('shop/Deployment/shop');
    expect(stdout).toContain('could be saved');
  });

  it('gives the same bill in the form of OpenCost', async () => {
    const report = await costs<CostReport>('-o', 'json');
    for (const aggregate of ['cluster', 'node', 'namespace', 'controllerKind', 'controller', 'pod', 'label:team']) {
      const { code, data } = await costs<OpenCostAnswer>('-o', 'opencost', '--aggregate', aggregate, '--window', '1d');
      const [set = {}, ...others] = data;
      expect([code, others]).toEqual([200, []]);
      const total = Object.values(set).reduce((sum, { totalCost }) => sum + totalCost, 0);
      expect(total).toBeCloseTo(report.pricePerHour * 24, 3);
      for (const [key, { name }] of Object.entries(set)) expect(name).toBe(key);
    }
    const [byNamespace = {}] = (await costs<OpenCostAnswer>('-o', 'opencost', '--cluster-name', 'mine')).data;
    expect(Object.keys(byNamespace)).toEqual(['__idle__', 'default', 'shop']);
    expect(byNamespace['shop']).toMatchObject({
      name: 'shop',
      properties: { cluster: 'mine', namespace: 'shop' },
      minutes: 60,
      cpuCores: 3.9,
      cpuCoreRequestAverage: 3.9,
      cpuCoreHours: 3.9,
      cpuCost: 0.096,
      ramByteRequestAverage: 7 * 2 ** 30,
      ramCost: 0.048,
      gpuCost: 0,
      pvCost: 0,
      networkCost: 0,
      totalCost: 0.144,
      totalEfficiency: 1,
    });
    const { start, end, window } = byNamespace['shop'] ?? { start: '', end: '' };
    expect(window).toEqual({ start, end });
    expect(Date.parse(end) - Date.parse(start)).toBe(3_600_000);
    const [byPod = {}] = (await costs<OpenCostAnswer>('-o', 'opencost', '--aggregate', 'pod')).data;
    expect(byPod['shop/shop-1']?.properties).toMatchObject({
      node: 'one',
      controller: 'shop',
      controllerKind: 'deployment',
      labels: { team: 'blue' },
    });
  });

  it.each([
    ['--aggregate', 'colour'],
    ['--window', 'soon'],
    ['--window', '0s'],
    ['--by', 'colour'],
  ])('refuses %s %s', async (...flags) => {
    expect(await cluster.nodewright(['cost', ...flags])).toEqual({ code: 2, stdout: '' });
  });
});
