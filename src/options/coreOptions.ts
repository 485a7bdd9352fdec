/**
 * Options that do not depend on the cloud: names, variables and defaults are those of Karpenter, so that an existing
 * deployment's environment keeps its meaning. Out: rows of the options table.
 */
import { defaultGates, featureGates } from './featureGates.ts';
import type { OptionDefinition } from './optionDefinition.ts';
import {
  byteLimit,
  duration,
  flagSwitch,
  integer,
  nonEmptyList,
  nonEmptyText,
  oneOf,
  optional,
  plainText,
  port,
} from './optionKinds.ts';
import { schedulerConfiguration } from './schedulerConfiguration.ts';

export const coreOptions = {
  cloudProvider: {
    flag: 'cloud-provider',
    env: 'CLOUD_PROVIDER',
    kind: oneOf('azure', 'kwok'),
    default: 'azure',
    group: 'Cluster',
    help: 'Where machines come from: azure, or kwok for Node objects without machines on any cluster. With kwok no Azure option is needed.',
  },
  instanceTypesFilePath: {
    flag: 'instance-types-file-path',
    env: 'INSTANCE_TYPES_FILE_PATH',
    kind: optional(plainText),
    default: '',
    group: 'Cluster',
    help: 'With cloud provider kwok: a JSON file with the instance types to offer. Empty: a built-in catalogue of 144.',
  },
  batchIdleDuration: {
    flag: 'batch-idle-duration',
    env: 'BATCH_IDLE_DURATION',
    kind: duration(),
    default: '1s',
    group: 'Scheduling',
    help: 'A batch of pending pods closes when no new one has arrived for this long. Longer packs better, shorter starts sooner.',
  },
  batchMaxDuration: {
    flag: 'batch-max-duration',
    env: 'BATCH_MAX_DURATION',
    kind: duration(),
    default: '10s',
    group: 'Scheduling',
    help: 'A batch closes after this long even while pods keep arriving.',
  },
  preferencePolicy: {
    flag: 'preference-policy',
    env: 'PREFERENCE_POLICY',
    kind: oneOf('Respect', 'Ignore'),
    default: 'Respect',
    group: 'Scheduling',
    help: 'Whether preferred affinities and ScheduleAnyway spreads are tried first (Respect) or left out of the calculation (Ignore).',
  },
  minValuesPolicy: {
    flag: 'min-values-policy',
    env: 'MIN_VALUES_POLICY',
    kind: oneOf('Strict', 'BestEffort'),
    default: 'Strict',
    group: 'Scheduling',
    help: 'What happens when the minValues of a NodePool cannot be met: no node (Strict), or a node with less choice (BestEffort).',
  },
  ignoreDraRequests: {
    flag: 'ignore-dra-requests',
    env: 'IGNORE_DRA_REQUESTS',
    kind: flagSwitch,
    default: 'true',
    group: 'Scheduling',
    help: 'Leave out pods that ask for devices through dynamic resource allocation.',
  },
  featureGates: {
    flag: 'feature-gates',
    env: 'FEATURE_GATES',
    kind: featureGates,
    default: defaultGates,
    group: 'Scheduling',
    help: 'Features that are on or off. Gates that are not named keep their default.',
  },
  schedulerConfig: {
    flag: 'scheduler-config',
    env: 'SCHEDULER_CONFIG',
    kind: schedulerConfiguration,
    default: '',
    group: 'Scheduling',
    help: "Default topology spread for pods that have none, in the form of kube-scheduler's PodTopologySpreadArgs. Set it to what the cluster's scheduler uses.",
  },
  logLevel: {
    flag: 'log-level',
    env: 'LOG_LEVEL',
    kind: oneOf('debug', 'info', 'error'),
    default: 'info',
    group: 'Logs and metrics',
    help: 'How much is logged; debug also names the place in the code.',
  },
  logOutputPaths: {
    flag: 'log-output-paths',
    env: 'LOG_OUTPUT_PATHS',
    kind: nonEmptyList,
    default: 'stdout',
    group: 'Logs and metrics',
    help: 'Where log lines go: stdout, stderr or files, separated by commas.',
  },
  logErrorOutputPaths: {
    flag: 'log-error-output-paths',
    env: 'LOG_ERROR_OUTPUT_PATHS',
    kind: nonEmptyList,
    default: 'stderr',
    group: 'Logs and metrics',
    help: 'Where failures of the logger itself go, such as a full disk. Log lines of level error are not sent here.',
  },
  metricsPort: {
    flag: 'metrics-port',
    env: 'METRICS_PORT',
    kind: port,
    default: '8080',
    group: 'Logs and metrics',
    help: 'Port of the Prometheus endpoint /metrics.',
  },
  healthProbePort: {
    flag: 'health-probe-port',
    env: 'HEALTH_PROBE_PORT',
    kind: port,
    default: '8081',
    group: 'Logs and metrics',
    help: 'Port of /healthz and /readyz.',
  },
  enableProfiling: {
    flag: 'enable-profiling',
    env: 'ENABLE_PROFILING',
    kind: flagSwitch,
    default: 'false',
    group: 'Logs and metrics',
    help: 'Serve CPU profiles and heap snapshots under /debug/pprof/ on the metrics port. A heap snapshot holds secrets.',
  },
  disableClusterStateObservability: {
    flag: 'disable-cluster-state-observability',
    env: 'DISABLE_CLUSTER_STATE_OBSERVABILITY',
    kind: flagSwitch,
    default: 'false',
    group: 'Logs and metrics',
    help: 'Leave out the per-pod, per-node and per-pool metrics. Saves memory in very large clusters.',
  },
  kubeClientQps: {
    flag: 'kube-client-qps',
    env: 'KUBE_CLIENT_QPS',
    kind: integer({ minimum: 1 }),
    default: '200',
    group: 'Process',
    help: 'Requests per second to the API server, on average.',
  },
  kubeClientBurst: {
    flag: 'kube-client-burst',
    env: 'KUBE_CLIENT_BURST',
    kind: integer({ minimum: 1 }),
    default: '300',
    group: 'Process',
    help: 'Requests that may go to the API server at once before the average counts.',
  },
  disableLeaderElection: {
    flag: 'disable-leader-election',
    env: 'DISABLE_LEADER_ELECTION',
    kind: flagSwitch,
    default: 'false',
    group: 'Process',
    help: 'Act without holding the lease. Only for a single replica: two would launch everything twice.',
  },
  leaderElectionName: {
    flag: 'leader-election-name',
    env: 'LEADER_ELECTION_NAME',
    kind: nonEmptyText,
    default: 'karpenter-leader-election',
    group: 'Process',
    help: 'Name of the lease. The default is the name that Karpenter uses, so that the two never act at the same time.',
  },
  leaderElectionNamespace: {
    flag: 'leader-election-namespace',
    env: 'LEADER_ELECTION_NAMESPACE',
    kind: optional(plainText),
    default: '',
    group: 'Process',
    help: 'Namespace of the lease. Empty: the namespace that this process runs in.',
  },
  disableControllerWarmup: {
    flag: 'disable-controller-warmup',
    env: 'DISABLE_CONTROLLER_WARMUP',
    kind: flagSwitch,
    default: 'true',
    group: 'Process',
    help: 'Start watching only when this replica leads. With false, a standby keeps its caches warm and takes over faster.',
  },
  memoryLimit: {
    flag: 'memory-limit',
    env: 'MEMORY_LIMIT',
    kind: byteLimit,
    default: '-1',
    group: 'Process',
    help: 'Memory limit of the container; the process plans with nine tenths of it.',
  },
  cpuRequests: {
    flag: 'cpu-requests',
    env: 'CPU_REQUESTS',
    kind: millicores(),
    default: '1000',
    group: 'Process',
    help: 'Millicores that the container has asked for. More cores, more work side by side.',
  },
  karpenterService: {
    flag: 'karpenter-service',
    env: 'KARPENTER_SERVICE',
    kind: plainText,
    default: '',
    group: 'Process',
    help: 'Accepted because existing deployments set it; has no effect.',
  },
} as const satisfies Readonly<Record<string, OptionDefinition<unknown>>>;

/** Charts pass 0 when no request is set; that means one core. */
function millicores(): OptionDefinition<number>['kind'] {
  const kind = integer({ placeholder: 'millicores' });
  return {
    ...kind,
    allowed: 'a whole number of millicores; 0 and less mean 1000',
    parse(text, source) {
      const outcome = kind.parse(text, source);
      return 'value' in outcome && outcome.value <= 0 ? { value: 1000 } : outcome;
    },
  };
}
