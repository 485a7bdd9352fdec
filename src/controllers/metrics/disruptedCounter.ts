import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Labels } from '../../api/labels.ts';
import type { Counter, MetricsRegistry } from '../../kube/metrics.ts';
import { Duration } from '../../units/duration.ts';

const LABELS = ['reason', 'nodepool', 'capacity_type', 'consolidation_policy', 'termination_mode'];

/** Counts disrupted NodeClaims by reason, and the pods that must move because of them. */
export class DisruptedCounter {
  private readonly claims: Counter;
  private readonly pods: Counter;

  constructor(registry: MetricsRegistry) {
    this.claims = registry.counter({
      name: 'karpenter_nodeclaims_disrupted_total',
      help: 'Disrupted NodeClaims, by reason.',
      labels: LABELS,
    });
    this.pods = registry.counter({
      name: 'karpenter_pods_disruption_initiated_total',
      help: 'Pods on disrupted nodes, by reason.',
      labels: LABELS,
    });
  }

  count(claim: NodeClaim, reason: string, pods = 0): void {
    const { labels } = claim.metadata;
    const series = {
      reason,
      nodepool: labels?.[Labels.nodePool] ?? '',
      capacity_type: labels?.[Labels.capacityType] ?? '',
      consolidation_policy: '',
      termination_mode: terminationMode(claim),
    };
    this.claims.inc(series);
    if (pods > 0) this.pods.inc(series, pods);
  }
}

/** How forceful the drain is: without a deadline, with one, or immediate. */
function terminationMode({ spec }: NodeClaim): 'graceful' | 'forceful' | 'eventual' {
  if (!spec.terminationGracePeriod) return 'graceful';
  return Duration.parse(spec.terminationGracePeriod).milliseconds > 0 ? 'eventual' : 'forceful';
}
