import type { Controller } from '../../kube/runtime/controller.ts';
import { singleton } from '../../kube/runtime/singleton.ts';
import { parseResources, type Resources } from '../../units/resources.ts';
import type { Gauge } from '../../kube/metrics.ts';
import { isManaged } from '../managed.ts';
import { resourceType, resourceValue } from '../resourceValue.ts';
import { SeriesKeeper, type Sample } from '../seriesKeeper.ts';
import type { World } from '../world.ts';

const INTERVAL = 10_000;

/** Shows how much each NodePool has, and how much it may have. */
export function nodePoolMetricsController(world: World): Controller {
  const { cluster, informers, cloud, metrics } = world;
  const labels = ['resource_type', 'nodepool'];
  const usage = metrics.gauge({
    name: 'karpenter_nodepools_usage',
    help: 'What the nodes of a NodePool add up to.',
    labels,
  });
  const limit = metrics.gauge({ name: 'karpenter_nodepools_limit', help: 'What a NodePool may hold at most.', labels });
  const series = new SeriesKeeper();
  const sampled = (gauge: Gauge, nodepool: string, resources: Resources): readonly Sample[] =>
    Object.entries(resources).map(([name, amount]) => ({
      gauge,
      labels: { resource_type: resourceType(name), nodepool },
      value: resourceValue(name, amount),
    }));
  return singleton({
    ...world,
    name: 'metrics.nodepool',
    interval: INTERVAL,
    reconcile: async () => {
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
      series.keepOnly(new Set(pools.map(({ metadata }) => metadata.name)));
    },
  });
}
