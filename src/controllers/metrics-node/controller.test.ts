import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { PrometheusMetrics } from '../../server/metrics.ts';
import { clusterStateController } from '../cluster-state/controller.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { nodeMetricsController } from './controller.ts';
import { nodeMetrics } from './metrics.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => [
      clusterStateController(world),
      nodeMetricsController(world),
      nodeClaimLifecycleController(world),
    ],
  });
  await bench.createPool();
  await bench.createClaim('a');
  await bench.advance(40_000);
});
afterEach(() => bench.close());

const node = (name: string, resource_type: string) =>
  bench.metrics.value(`karpenter_nodes_${name}`, { node_name: 'node-a', nodepool: 'default', resource_type });

it('shows nodes and what is on them', async () => {
  expect(node('allocatable', 'cpu')).toBe(1.9);
  expect(node('allocatable', 'ephemeral_storage')).toBe(90 * 2 ** 30);
  expect(node('system_overhead', 'cpu')).toBeCloseTo(0.1);
  expect(node('total_pod_requests', 'cpu')).toBeUndefined();
  await bench.createPod('p', { nodeName: 'node-a' });
  await bench.advance(5_000);
  expect(node('total_pod_requests', 'cpu')).toBe(0.5);
  expect(bench.metrics.value('karpenter_cluster_utilization_percent', { resource_type: 'cpu' })).toBeCloseTo(26.3, 1);
  expect(bench.metrics.value('karpenter_cluster_state_node_count')).toBe(1);
  expect(bench.metrics.value('karpenter_cluster_state_synced')).toBe(1);
  expect(bench.metrics.value('karpenter_nodes_current_lifetime_seconds', { instance_type: 'm2' })).toBe(25);
});

it('shows nothing of a node that is gone', async () => {
  await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
  await bench.kube.patch(Kinds.Node, { name: 'node-a' }, { type: 'merge', body: { metadata: { finalizers: null } } });
  await bench.advance(30_000);
  expect(node('allocatable', 'cpu')).toBeUndefined();
  expect(bench.metrics.value('karpenter_nodes_current_lifetime_seconds')).toBeUndefined();
});

it('has metric names that Prometheus accepts', () => {
  const metrics = new PrometheusMetrics({ build: { version: '1' } });
  expect(() => nodeMetrics(metrics)).not.toThrow();
});
