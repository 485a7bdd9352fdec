import { afterEach, describe, expect, it } from 'vitest';
import { memoryInstanceType } from '../../../test/fixtures/engine/memoryCloud.ts';
import { CLASS_REF, Workbench, type WorkbenchOptions } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { silentLog, type Log } from '../../kube/log.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { overlaidCloud, OverlayStore } from '../nodeoverlay/overlayCloud.ts';
import { nodePoolMetricsController } from './controller.ts';

let bench: Workbench;
async function start(options: WorkbenchOptions = {}): Promise<void> {
  bench = await Workbench.start({
    controllers: ({ world }) => [nodePoolMetricsController(world), nodeClaimLifecycleController(world)],
    ...options,
  });
}
afterEach(() => bench.close());

const LOOK = 10_000;
const HOUR = 3_600_000;

const resource = (name: 'usage' | 'limit', type: string, nodepool = 'default') =>
  bench.metrics.value(`karpenter_nodepools_${name}`, { nodepool, resource_type: type });
const cost = (nodepool = 'default') => bench.metrics.value('karpenter_nodepools_cost_total', { nodepool });
const errors = () => bench.metrics.value('karpenter_nodepools_cost_tracker_errors_total', { nodepool: 'default' });
const limitTo = (limits: Record<string, string | null>) =>
  bench.kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body: { spec: { limits } } });

describe('usage and limits of a NodePool', () => {
  it('add up its nodes and follow its spec', async () => {
    await start();
    await bench.createPool('default', { limits: { cpu: '10', memory: '64Gi' } });
    await bench.createPool('other');
    await bench.createClaim('a');
    await bench.createClaim('b', {}, { labels: { [Labels.nodePool]: 'other' } });
    await bench.advance(40_000);
    expect([resource('usage', 'cpu'), resource('usage', 'nodes')]).toEqual([2, 1]);
    expect(resource('usage', 'memory')).toBe(8 * 2 ** 30);
    expect([resource('limit', 'cpu'), resource('limit', 'memory')]).toEqual([10, 64 * 2 ** 30]);
    expect([resource('usage', 'cpu', 'other'), resource('limit', 'cpu', 'other')]).toEqual([2, undefined]);

    await bench.createClaim('c');
    await limitTo({ cpu: '20', memory: null });
    await bench.advance(40_000);
    expect([resource('usage', 'cpu'), resource('usage', 'nodes')]).toEqual([4, 2]);
    expect([resource('limit', 'cpu'), resource('limit', 'memory')]).toEqual([20, undefined]);
  });

  it('are not shown for a pool of another provider', async () => {
    await start();
    const nodeClassRef = { ...CLASS_REF, group: 'example.com', kind: 'OtherNodeClass' };
    await bench.createPool('foreign', {
      limits: { cpu: '10' },
      template: { spec: { nodeClassRef, requirements: [], expireAfter: 'Never' } },
    });
    await bench.createPool('default', { limits: { cpu: '10' } });
    await bench.advance(LOOK);
    expect([resource('limit', 'cpu'), resource('limit', 'cpu', 'foreign')]).toEqual([10, undefined]);
    expect([cost(), cost('foreign')]).toEqual([0, undefined]);
  });

  it('are removed with the pool, and so is its cost', async () => {
    await start();
    await bench.createPool('default', { limits: { cpu: '10' } });
    await bench.createClaim('a');
    await bench.advance(40_000);
    expect([resource('usage', 'cpu'), resource('limit', 'cpu'), cost()]).toEqual([2, 10, 0.1]);
    await bench.kube.delete(Kinds.NodePool, { name: 'default' });
    await bench.advance(LOOK);
    expect([resource('usage', 'cpu'), resource('limit', 'cpu'), cost()]).toEqual([undefined, undefined, undefined]);
  });
});

describe('the cost of a NodePool', () => {
  it('is the price of all its nodes', async () => {
    await start();
    await bench.createPool();
    await bench.createClaim('a');
    await bench.createClaim('b', { requirements: [{ key: Labels.instanceType, operator: 'In', values: ['m8'] }] });
    await bench.advance(40_000);
    expect(cost()).toBeCloseTo(0.1 + 0.37);
    await bench.kube.delete(Kinds.NodeClaim, { name: 'b' });
    await bench.kube.patch(Kinds.Node, { name: 'node-b' }, { type: 'merge', body: { metadata: { finalizers: null } } });
    await bench.advance(LOOK);
    expect(cost()).toBe(0.1);
  });

  it('uses prices that are at most an hour old', async () => {
    await start();
    await bench.createPool();
    await bench.createClaim('a');
    await bench.advance(40_000);
    bench.cloud.types = [memoryInstanceType('m2', 2, 0.5)];
    await bench.advance(HOUR / 2);
    expect(cost()).toBe(0.1);
    await bench.advance(HOUR / 2);
    expect(cost()).toBe(0.5);
  });

  it('stays as it was while prices cannot be listed, and every failure is counted', async () => {
    await start();
    await bench.createPool();
    await bench.createClaim('a');
    await bench.advance(40_000);
    await bench.kube.delete(Kinds.KWOKNodeClass, { name: 'default' });
    await bench.advance(HOUR / 2);
    expect([cost(), errors()]).toEqual([0.1, undefined]);
    await bench.advance(HOUR / 2);
    const failures = errors() ?? 0;
    expect(failures).toBeGreaterThan(0);
    await bench.advance(LOOK);
    expect([cost(), errors()]).toEqual([0.1, failures + 1]);
  });

  it('that is not available is logged once, and again when the reason changes or after it was available', async () => {
    const logged: string[] = [];
    const log: Log = { ...silentLog, error: (_message, fields) => logged.push(String(fields?.['error'])) };
    await start({ log: { ...log, with: () => log } });
    await bench.createPool('default', {
      template: { spec: { nodeClassRef: { ...CLASS_REF, name: 'absent' }, requirements: [], expireAfter: 'Never' } },
    });
    await bench.advance(10 * LOOK);
    expect(errors()).toBeGreaterThan(5);
    expect(logged).toHaveLength(1);
    await bench.kube.create(Kinds.KWOKNodeClass, { metadata: { name: 'absent' } });
    await bench.advance(2 * LOOK);
    expect([cost(), logged.length]).toEqual([0, 1]);
    await bench.kube.delete(Kinds.KWOKNodeClass, { name: 'absent' });
    await bench.advance(2 * HOUR);
    expect(logged).toHaveLength(2);
  });

  it('waits, without an error, until overlays are evaluated for the pool', async () => {
    const overlays = new OverlayStore();
    await start({ decorateCloud: (cloud) => overlaidCloud(cloud, overlays) });
    await bench.createPool();
    await bench.createClaim('a');
    await bench.advance(40_000);
    expect([cost(), errors(), resource('usage', 'cpu')]).toEqual([undefined, undefined, 2]);
    overlays.replace({ changes: new Map([['default', new Map()]]), verdicts: new Map() });
    await bench.advance(LOOK);
    expect([cost(), errors()]).toEqual([0.1, undefined]);
  });
});
