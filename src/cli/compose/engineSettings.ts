/** Converts options to settings of the engine and the Azure provider, for both `run` and `up`. */
import type { AzureCloudProviderOptions } from '../../azure/createAzureCloudProvider.ts';
import type { Options } from '../../options/optionTable.ts';
import type { EngineOptions } from './engine.ts';

type EngineSettings = Pick<
  EngineOptions,
  | 'batchIdle'
  | 'batchMax'
  | 'timeouts'
  | 'warmUp'
  | 'gates'
  | 'observeState'
  | 'defaultSpread'
  | 'policies'
  | 'placementHints'
  | 'keepsSlack'
>;

export function engineSettings(options: Options): EngineSettings {
  return {
    batchIdle: options.batchIdleDuration.milliseconds,
    batchMax: options.batchMaxDuration.milliseconds,
    timeouts: { launch: options.launchTimeout.milliseconds, registration: options.registrationTimeout.milliseconds },
    warmUp: !options.disableControllerWarmup,
    gates: options.featureGates,
    observeState: !options.disableClusterStateObservability,
    defaultSpread: options.schedulerConfig.defaultConstraints,
    ...(options.placementHints === 'auto' && { placementHints: { schedulers: options.placementHintSchedulers } }),
    keepsSlack: options.placementHints === 'off',
    policies: {
      preferencePolicy: options.preferencePolicy,
      minValuesPolicy: options.minValuesPolicy,
      nodeOverheadCost: options.nodeOverheadCost,
      maxPodsSharePerNode: options.maxPodsSharePerNode,
    },
  };
}

type Ports = 'environment' | 'caPem' | 'httpClient' | 'credential' | 'kube' | 'clock' | 'random' | 'log';

export function azureOptionsOf(options: Options): Omit<AzureCloudProviderOptions, Ports> {
  return {
    subscriptionId: options.subscriptionId,
    location: options.location,
    nodeResourceGroup: options.nodeResourceGroup,
    clusterName: options.clusterName,
    clusterEndpoint: options.clusterEndpoint,
    kubeletBootstrapToken: options.kubeletBootstrapToken,
    vnetSubnetId: options.vnetSubnetId,
    networkPlugin: options.networkPlugin,
    networkPluginMode: options.networkPluginMode,
    networkDataplane: options.networkDataplane,
    networkPolicy: options.networkPolicy,
    linuxAdminUsername: options.linuxAdminUsername,
    sshPublicKey: options.sshPublicKey,
    nodeIdentities: options.nodeIdentities,
    additionalTags: options.additionalTags,
    memoryOverheadPercent: options.vmMemoryOverheadPercent,
    provisionMode: options.provisionMode,
    manageExistingAksMachines: options.manageExistingAksMachines,
    machineBatch: {
      idle: options.providerBatchIdleDuration.milliseconds,
      max: options.providerBatchMaxDuration.milliseconds,
      size: options.providerBatchMaxSize,
    },
    useSig: options.useSig,
    capacityReservationGroups: options.capacityReservationGroups,
    nodeProxy: {
      http: options.nodeHttpProxy ?? '',
      https: options.nodeHttpsProxy ?? '',
      except: options.nodeNoProxy,
    },
    ...(options.clusterResourceGroup && { clusterResourceGroup: options.clusterResourceGroup }),
    ...(options.nodeBootstrappingServerUrl && { nodeBootstrappingServerUrl: options.nodeBootstrappingServerUrl }),
    ...(options.aksMachinesPoolName && { aksMachinesPoolName: options.aksMachinesPoolName }),
    ...(options.sigSubscriptionId && { sigSubscriptionId: options.sigSubscriptionId }),
    ...(options.sigAccessTokenServerUrl && { sigAccessTokenServerUrl: options.sigAccessTokenServerUrl }),
    ...(options.systemNamespace && { systemNamespace: options.systemNamespace }),
    ...(options.tenantId && { tenantId: options.tenantId }),
    ...(options.vnetGuid && { vnetGuid: options.vnetGuid }),
    ...(options.dnsServiceIp && { dnsServiceIp: options.dnsServiceIp }),
    ...(options.kubeletIdentityClientId && { kubeletIdentityClientId: options.kubeletIdentityClientId }),
    ...(options.nodeOsDiskEncryptionSetId && { diskEncryptionSetId: options.nodeOsDiskEncryptionSetId }),
  };
}

/** The cloud and its connection. */
export type ProviderSettings = Pick<
  Options,
  | 'cloudProvider'
  | 'instanceTypesFilePath'
  | 'armCloud'
  | 'azureEnvironmentFilepath'
  | 'tenantId'
  | 'nodeTrustedCaFile'
  | 'enableAzureSdkLogging'
>;

/** Settings of the process itself: clients, servers, logs and lease. */
export interface ProcessSettings {
  readonly kubeClient: { readonly qps: number; readonly burst: number };
  readonly log: Pick<Options, 'logLevel' | 'logOutputPaths' | 'logErrorOutputPaths'>;
  readonly metricsServer: { readonly port: number; readonly enableProfiling: boolean };
  readonly healthServer: { readonly port: number };
  /** Absent: no tracing. */
  readonly traces?: { readonly endpoint: string };
  /** Absent: no dashboard. */
  readonly dashboard?: { readonly port: number };
  /** Absent: this process acts without a lease. */
  readonly lease?: { readonly name: string; readonly namespace: string | undefined };
  readonly provider: ProviderSettings;
  /** Absent: decisions are kept only in memory. Bytes and milliseconds. */
  readonly ledger?: { readonly directory: string; readonly maxBytes: number; readonly maxAge: number };
  /** Bytes; undefined: unknown. */
  readonly memoryLimit: number | undefined;
}

export function processSettings(options: Options): ProcessSettings {
  const { logLevel, logOutputPaths, logErrorOutputPaths } = options;
  const { cloudProvider, instanceTypesFilePath, armCloud, azureEnvironmentFilepath, tenantId } = options;
  const { nodeTrustedCaFile, enableAzureSdkLogging } = options;
  return {
    kubeClient: { qps: options.kubeClientQps, burst: options.kubeClientBurst },
    log: { logLevel, logOutputPaths, logErrorOutputPaths },
    metricsServer: { port: options.metricsPort, enableProfiling: options.enableProfiling },
    healthServer: { port: options.healthProbePort },
    ...(options.tracesEndpoint && { traces: { endpoint: options.tracesEndpoint } }),
    ...(options.dashboardPort !== undefined && { dashboard: { port: options.dashboardPort } }),
    ...(!options.disableLeaderElection && {
      lease: {
        name: options.leaderElectionName,
        namespace: options.leaderElectionNamespace || options.systemNamespace || undefined,
      },
    }),
    provider: {
      cloudProvider,
      instanceTypesFilePath,
      armCloud,
      azureEnvironmentFilepath,
      tenantId,
      nodeTrustedCaFile,
      enableAzureSdkLogging,
    },
    ...(options.ledgerDir && {
      ledger: {
        directory: options.ledgerDir,
        maxBytes: options.ledgerMaxSize ?? Number.MAX_SAFE_INTEGER,
        maxAge: options.ledgerMaxAge.milliseconds,
      },
    }),
    memoryLimit: options.memoryLimit,
  };
}
