/** Alerting rules for conditions that need an operator, each with the command that explains the cause. */

interface Alert {
  readonly name: string;
  readonly expression: string;
  /** How long the condition must last. */
  readonly lasting: string;
  readonly severity: 'critical' | 'warning' | 'info';
  readonly summary: string;
  readonly description: string;
}

const ALERTS: readonly Alert[] = [
  {
    name: 'NodewrightAbsent',
    expression: 'absent(karpenter_cluster_state_node_count)',
    lasting: '10m',
    severity: 'critical',
    summary: 'No controller reports',
    description: 'No node is bought or removed. Look at the pods of the controller and its lease.',
  },
  {
    name: 'NodewrightStateNotSynced',
    expression: 'min(karpenter_cluster_state_synced) == 0',
    lasting: '15m',
    severity: 'critical',
    summary: 'The controller does not see the whole cluster',
    description:
      'Watches or NodeClaims without provider ID keep the picture incomplete. Look at the log of the controller.',
  },
  {
    name: 'NodewrightUnschedulablePods',
    expression: 'sum(karpenter_scheduler_unschedulable_pods_count) > 0',
    lasting: '15m',
    severity: 'warning',
    summary: '{{ $value }} pods find no place',
    description:
      'No NodePool can have a node for them. `nodewright explain pod NAME` names the constraint and its fix.',
  },
  {
    name: 'NodewrightSlowPlanning',
    expression:
      'histogram_quantile(0.99, sum by (le) (rate(karpenter_scheduler_scheduling_duration_seconds_bucket[10m]))) > 30',
    lasting: '15m',
    severity: 'warning',
    summary: 'Planning takes {{ $value | humanizeDuration }}',
    description: 'Pods wait for plans. Give the controller more cpu, or look at what changed in the NodePools.',
  },
  {
    name: 'NodewrightCloudErrors',
    expression: 'sum by (method, error) (rate(karpenter_cloudprovider_errors_total[10m])) > 0.1',
    lasting: '15m',
    severity: 'warning',
    summary: 'Azure refuses {{ $labels.method }}: {{ $labels.error }}',
    description: 'Quota, capacity, rights or throttling. `nodewright doctor` tells which.',
  },
  {
    name: 'NodewrightPoolNearLimit',
    expression: 'karpenter_nodepools_usage / (karpenter_nodepools_limit > 0) > 0.9',
    lasting: '15m',
    severity: 'warning',
    summary:
      'NodePool {{ $labels.nodepool }} uses {{ $value | humanizePercentage }} of its {{ $labels.resource_type }}',
    description:
      'Pods will wait when the limit is reached. `nodewright explain nodepool {{ $labels.nodepool }}` has the fix.',
  },
  {
    name: 'NodewrightNodesLaunchAndFail',
    expression: 'sum by (nodepool) (rate(karpenter_nodeclaims_disrupted_total{reason="liveness"}[30m])) > 0',
    lasting: '30m',
    severity: 'warning',
    summary: 'Nodes of NodePool {{ $labels.nodepool }} do not join',
    description: 'Instances start and never become nodes. Look at their console, network and bootstrap.',
  },
  {
    name: 'NodewrightPodsWaitLong',
    expression: 'max(karpenter_pods_provisioning_unbound_time_seconds) > 900',
    lasting: '10m',
    severity: 'warning',
    summary: 'A pod has waited for {{ $value | humanizeDuration }}',
    description: '`nodewright explain pod NAME` says what it waits for.',
  },
  {
    name: 'NodewrightConsolidationReversed',
    expression: 'sum(increase(nodewright_consolidation_reversals_total[6h])) > 20',
    lasting: '30m',
    severity: 'info',
    summary: 'Demand came back after {{ $value }} consolidations',
    description: 'Nodes are removed and bought again. A longer consolidateAfter makes that calmer.',
  },
  {
    name: 'NodewrightSavingsHeld',
    expression: 'sum(nodewright_savings_backlog_dollars_per_hour) > 1',
    lasting: '24h',
    severity: 'info',
    summary: '${{ $value }} per hour could be saved and is held',
    description: '`nodewright cost` tells what holds it, `nodewright doctor` how to change that.',
  },
];

/** A file for `rule_files` of Prometheus. */
export function prometheusAlerts(): object {
  const rules = ALERTS.map(({ name, expression, lasting, severity, summary, description }) => ({
    alert: name,
    expr: expression,
    for: lasting,
    labels: { severity },
    annotations: { summary, description },
  }));
  return { groups: [{ name: 'nodewright', rules }] };
}
