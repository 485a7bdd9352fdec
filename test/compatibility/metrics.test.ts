import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';
import type { CloudProvider } from '../../src/cloud/cloudProvider.ts';
import { requestMetrics } from '../../src/kube/requestMetrics.ts';
import { PrometheusMetrics } from '../../src/server/metrics.ts';
import type { MetricOptions, MetricsRegistry } from '../../src/kube/metrics.ts';
import { Workbench } from '../fixtures/engine/workbench.ts';
import { UPSTREAM_METRICS } from './upstreamMetrics.ts';

/** Metrics actually registered by the program, by name. */
const registered = new Map<string, { readonly type: string; readonly labels: readonly string[] }>();

function recording(registry: MetricsRegistry): MetricsRegistry {
  const note = (type: string, { name, labels = [] }: MetricOptions): void => {
    registered.set(name, { type, labels });
  };
  return {
    counter: (options) => (note('counter', options), registry.counter(options)),
    gauge: (options) => (note('gauge', options), registry.gauge(options)),
    histogram: (options) => (note('histogram', options), registry.histogram(options)),
    summary: (options) => (note('summary', options), registry.summary(options)),
    beforeRead: (refresh) => registry.beforeRead(refresh),
  };
}

let bench: Workbench;
const prometheus = new PrometheusMetrics({ build: { version: '1' } });

beforeAll(async () => {
  const metrics = recording(prometheus);
  requestMetrics(metrics, 'https://127.0.0.1:6443');
  bench = await Workbench.start({
    // Each node class of a provider is its own label; upstream's list has only kwok's.
    decorateCloud: (cloud) => Object.create(cloud, { nodeClasses: { value: [Kinds.KWOKNodeClass] } }) as CloudProvider,
    engine: (ports) =>
      createEngine({
        ...ports,
        metrics,
        batchIdle: 1_000,
        batchMax: 10_000,
        gates: { capacityBuffer: true, staticCapacity: true, nodeRepair: true },
        leaderElection: { kube: ports.kube, name: 'lease', namespace: 'kube-system', identity: 'me' },
      }),
  });
  await bench.createPool();
  await bench.createPod('p');
  await bench.advance(60_000);
});
afterAll(() => bench.close());

describe('the metrics of Karpenter', () => {
  it.each(Object.entries(UPSTREAM_METRICS))('include %s', (name, [type, labels]) => {
    const found = registered.get(name);
    expect(found?.type).toBe(type);
    const wanted = labels.split(' ').filter((label) => label !== '');
    // Providers add labels of their own to those of nodes.
    const ofNodes = wanted.includes('node_name');
    const compared = (found?.labels ?? []).filter((label) => !ofNodes || wanted.includes(label));
    expect(new Set(compared)).toEqual(new Set(wanted));
  });

  it('carry values once something has happened', async () => {
    const text = await prometheus.render();
    for (const sample of [
      /karpenter_build_info\{version="1",goversion="[^"]+",goarch="[^"]+",commit=""\} 1/,
      /karpenter_pods_state\{name="p",namespace="default",.*phase="Running",ready="true",managed="true"\} 1/,
      /karpenter_pods_bound_duration_seconds_count 1/,
      /karpenter_pods_startup_duration_seconds_count 1/,
      /karpenter_pods_provisioning_bound_duration_seconds_count 1/,
      /karpenter_nodepools_cost_total\{nodepool="default"\} 0\.\d+/,
      /operator_nodeclaim_status_condition_count\{.*type="Ready",status="True".*karpenter_sh_nodepool="default"\} 1/,
      /operator_status_condition_count\{.*kind="NodeClaim"\} 1/,
      /operator_node_status_condition_current_status_seconds\{.*type="Ready",status="True".*\} \d+/,
      /karpenter_scheduler_queue_depth\{controller="provisioner",scheduling_id="[^"]+"\} 0/,
      /workqueue_unfinished_work_seconds\{name="nodeclaim.lifecycle",controller="nodeclaim.lifecycle"\} 0/,
    ]) {
      expect(text).toMatch(sample);
    }
    expect(text).not.toMatch(/karpenter_pods_unstarted_time_seconds\{/);
  });
});
