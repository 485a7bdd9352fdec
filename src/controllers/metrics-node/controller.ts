import type { NodeView } from '../../cluster/nodeView.ts';
import { isDaemonPod } from '../../pods/podPredicates.ts';
import { podLimits } from '../../pods/podRequests.ts';
import type { Gauge } from '../../kube/metrics.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { singleton } from '../../kube/runtime/singleton.ts';
import { addResources, noResources, quantityOf, subtractResources, type Resources } from '../../units/resources.ts';
import { resourceType, resourceValue } from '../metrics/resourceValue.ts';
import { SeriesKeeper, type Sample } from '../metrics/seriesKeeper.ts';
import type { World } from '../world/world.ts';
import { NODE_LABELS, nodeMetrics } from './metrics.ts';

const INTERVAL = 5_000;
const UTILIZATION = ['cpu', 'memory'];

/** Metrics of each node and of the whole cluster. Only changed series are written. */
export function nodeMetricsController(world: World): Controller {
  const { cluster } = world;
  const metrics = nodeMetrics(world.metrics);
  const series = new SeriesKeeper();

  function samples(view: NodeView): readonly Sample[] {
    const identity = identityOf(view);
    const [limits, daemonLimits] = [limitsOf(view, false), limitsOf(view, true)];
    const vectors: readonly (readonly [Gauge, Resources])[] = [
      [metrics.allocatable, view.allocatable],
      [metrics.podRequests, subtractResources(view.requested, view.daemonRequested)],
      [metrics.podLimits, limits],
      [metrics.daemonRequests, view.daemonRequested],
      [metrics.daemonLimits, daemonLimits],
      [metrics.systemOverhead, subtractResources(view.capacity, view.allocatable)],
    ];
    const born = Date.parse(view.node?.metadata.creationTimestamp ?? '');
    return [
      { gauge: metrics.lifetime, labels: identity, value: born, since: true },
      ...vectors.flatMap(([gauge, vector]) =>
        Object.entries(vector).map(([name, amount]) => ({
          gauge,
          labels: { ...identity, resource_type: resourceType(name) },
          value: resourceValue(name, amount),
        })),
      ),
    ];
  }

  return singleton({
    ...world,
    name: 'metrics.node',
    interval: INTERVAL,
    reconcile: async () => {
      const { nodes } = cluster.snapshot();
      const joined = nodes.filter(({ node }) => node !== undefined);
      for (const view of joined) {
        series.set(view.name, view, () => samples(view));
      }
      const names = new Set(joined.map(({ name }) => name));
      series.keepOnly(names);
      for (const name of UTILIZATION) {
        const sum = (part: (view: NodeView) => Resources): number =>
          joined.reduce((total, view) => total + quantityOf(part(view), name).milliValue(), 0);
        const offered = sum(({ allocatable }) => allocatable);
        const used = sum(({ requested }) => requested);
        metrics.utilization.set({ resource_type: resourceType(name) }, offered > 0 ? (100 * used) / offered : 0);
      }
    },
  });
}

function identityOf({ name, node, labels, claim }: NodeView): Record<string, string> {
  const described = [...NODE_LABELS].map(([metricLabel, key]) => [metricLabel, labels[key] ?? ''] as const);
  return {
    ...Object.fromEntries(described),
    node_name: name,
    phase: node?.status?.phase ?? '',
    managed: String(claim !== undefined),
  };
}

function limitsOf({ pods }: NodeView, daemons: boolean): Resources {
  const chosen = pods.filter((pod) => isDaemonPod(pod) === daemons);
  return chosen.reduce<Resources>((sum, pod) => addResources(sum, podLimits(pod)), noResources);
}
