import type { Counter, MetricsRegistry } from '../../kube/metrics.ts';
import { DisruptedCounter } from '../metrics/disruptedCounter.ts';

export interface HealthMetrics {
  readonly disrupted: DisruptedCounter;
  readonly unhealthyDisrupted: Counter;
}

export function healthMetrics(registry: MetricsRegistry): HealthMetrics {
  return {
    disrupted: new DisruptedCounter(registry),
    unhealthyDisrupted: registry.counter({
      name: 'karpenter_nodeclaims_unhealthy_disrupted_total',
      help: 'NodeClaims disrupted because of an unhealthy condition of their node.',
      labels: ['condition', 'nodepool', 'capacity_type', 'image_id'],
    }),
  };
}
