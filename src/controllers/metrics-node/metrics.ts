import { WELL_KNOWN_LABELS } from '../../api/labels.ts';
import type { Gauge, MetricsRegistry } from '../../kube/metrics.ts';

/** `topology.kubernetes.io/zone` is `zone`, `karpenter.sh/capacity-type` is `capacity_type`. */
const metricLabel = (key: string): string =>
  key
    .slice(key.indexOf('/') + 1)
    .replaceAll('-', '_')
    .replaceAll('.', '_');

/** Metric labels that describe a node, with their node labels; of two with the same name the first is used. */
export const NODE_LABELS: ReadonlyMap<string, string> = new Map(
  [...WELL_KNOWN_LABELS].reverse().map((key) => [metricLabel(key), key]),
);

const IDENTITY = [...NODE_LABELS.keys(), 'node_name', 'phase', 'managed'];

export interface NodeMetrics {
  readonly allocatable: Gauge;
  readonly podRequests: Gauge;
  readonly podLimits: Gauge;
  readonly daemonRequests: Gauge;
  readonly daemonLimits: Gauge;
  readonly systemOverhead: Gauge;
  readonly lifetime: Gauge;
  readonly utilization: Gauge;
}

export function nodeMetrics(registry: MetricsRegistry): NodeMetrics {
  const perResource = (name: string, help: string): Gauge =>
    registry.gauge({ name: `karpenter_nodes_${name}`, help, labels: [...IDENTITY, 'resource_type'] });
  return {
    allocatable: perResource('allocatable', 'Allocatable resources of a node.'),
    podRequests: perResource('total_pod_requests', 'Requests of the pods on a node, without daemons.'),
    podLimits: perResource('total_pod_limits', 'Limits of the pods on a node, without daemons.'),
    daemonRequests: perResource('total_daemon_requests', 'Requests of the daemons on a node.'),
    daemonLimits: perResource('total_daemon_limits', 'Limits of the daemons on a node.'),
    systemOverhead: perResource(
      'system_overhead',
      'Resources that a node reserves for itself: capacity minus allocatable.',
    ),
    lifetime: registry.gauge({
      name: 'karpenter_nodes_current_lifetime_seconds',
      help: 'Age of a node in seconds.',
      labels: IDENTITY,
    }),
    utilization: registry.gauge({
      name: 'karpenter_cluster_utilization_percent',
      help: 'Requests of pods as a share of the allocatable resources of all nodes.',
      labels: ['resource_type'],
    }),
  };
}
