import type { NodePool } from '../../api/kinds/nodePool.ts';
import { messageOf } from '../../errors/thrown.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { singleton } from '../../kube/runtime/singleton.ts';
import { parseResources, type Resources } from '../../units/resources.ts';
import type { Gauge } from '../../kube/metrics.ts';
import { isManaged } from '../world/managed.ts';
import { poolInstanceTypes } from '../world/nodeClassOfPool.ts';
import { resourceType, resourceValue } from '../metrics/resourceValue.ts';
import { SeriesKeeper, type Sample } from '../metrics/seriesKeeper.ts';
import type { World } from '../world/world.ts';
import { PoolCosts } from './poolCosts.ts';

const INTERVAL = 10_000;

/** Usage, limits and hourly cost of each NodePool. */
export function nodePoolMetricsController(world: World): Controller {
  const { cluster, informers, cloud, metrics, clock, log } = world;
  const labels = ['resource_type', 'nodepool'];
  const usage = metrics.gauge({
    name: 'karpenter_nodepools_usage',
    help: 'Resources of all nodes of a NodePool.',
    labels,
  });
  const limit = metrics.gauge({ name: 'karpenter_nodepools_limit', help: 'Limits of a NodePool.', labels });
  const cost = metrics.gauge({
    name: 'karpenter_nodepools_cost_total',
    help: 'Price per hour of all nodes of a NodePool.',
    labels: ['nodepool'],
  });
  const costErrors = metrics.counter({
    name: 'karpenter_nodepools_cost_tracker_errors_total',
    help: 'Failed attempts to price the nodes of a NodePool.',
    labels: ['nodepool'],
  });
  const series = new SeriesKeeper();
  const costSeries = new SeriesKeeper();
  /** The last failure of each pool, so that a repeated one is logged once. */
  const failures = new Map<string, string>();
  const costs = new PoolCosts((pool, signal) => poolInstanceTypes(pool, cloud, informers, signal), clock);
  const sampled = (gauge: Gauge, nodepool: string, resources: Resources): readonly Sample[] =>
    Object.entries(resources).map(([name, amount]) => ({
      gauge,
      labels: { resource_type: resourceType(name), nodepool },
      value: resourceValue(name, amount),
    }));
  async function showCost(pool: NodePool, signal: AbortSignal): Promise<void> {
    const { name } = pool.metadata;
    const claims = cluster.snapshot().nodes.flatMap(({ claim, nodePool }) => (claim && nodePool === name ? claim : []));
    try {
      const value = await costs.costOf(pool, claims, signal);
      failures.delete(name);
      if (value !== undefined) costSeries.set(name, value, () => [{ gauge: cost, labels: { nodepool: name }, value }]);
    } catch (error) {
      signal.throwIfAborted();
      costErrors.inc({ nodepool: name });
      if (failures.get(name) === messageOf(error)) return;
      failures.set(name, messageOf(error));
      log.error('cannot list the prices of a NodePool', { NodePool: name, error });
    }
  }

  return singleton({
    ...world,
    name: 'metrics.nodepool',
    interval: INTERVAL,
    reconcile: async (signal) => {
      const pools = [...informers.nodePools.store.list()].filter(({ spec }) =>
        isManaged(spec.template.spec.nodeClassRef, cloud),
      );
      for (const { metadata, spec } of pools) {
        const used = cluster.poolUsage(metadata.name);
        const version = JSON.stringify([used, spec.limits]);
        series.set(metadata.name, version, () => [
          ...sampled(usage, metadata.name, used),
          ...sampled(limit, metadata.name, parseResources(spec.limits)),
        ]);
      }
      for (const pool of pools) await showCost(pool, signal);
      const names = new Set(pools.map(({ metadata }) => metadata.name));
      series.keepOnly(names);
      costSeries.keepOnly(names);
      costs.keepOnly(names);
      for (const name of failures.keys()) if (!names.has(name)) failures.delete(name);
    },
  });
}
