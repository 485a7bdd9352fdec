/** From the options table to the engine and the Azure provider: the one translation that `run` and `up` share. */
import type { AzureCloudProviderOptions } from '../../azure/createAzureCloudProvider.ts';
import type { Options } from '../../options/optionTable.ts';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import type { EngineOptions } from './engine.ts';

type EngineSettings = Pick<
  EngineOptions,
  'batchIdle' | 'batchMax' | 'timeouts' | 'warmUp' | 'gates' | 'observeState' | 'defaultSpread' | 'policies'
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
    policies: {
      preferencePolicy: options.preferencePolicy,
      minValuesPolicy: options.minValuesPolicy,
      nodeOverheadCost: options.nodeOverheadCost,
      maxPodsSharePerNode: options.maxPodsSharePerNode,
    },
  };
}

type Ports = 'endpoint' | 'caPem' | 'httpClient' | 'credential' | 'kube' | 'clock' | 'random' | 'log';

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
    ...(options.tenantId && { tenantId: options.tenantId }),
    ...(options.vnetGuid && { vnetGuid: options.vnetGuid }),
    ...(options.dnsServiceIp && { dnsServiceIp: options.dnsServiceIp }),
    ...(options.kubeletIdentityClientId && { kubeletIdentityClientId: options.kubeletIdentityClientId }),
    ...(options.nodeOsDiskEncryptionSetId && { diskEncryptionSetId: options.nodeOsDiskEncryptionSetId }),
  };
}

/** An option that would have no effect is refused at the start. */
export function refuseUnsupported({ provisionMode, useSig, manageExistingAksMachines }: Options): void {
  const problems = [
    provisionMode === 'aksscriptless'
      ? []
      : [{ option: `--provision-mode=${provisionMode}`, sentence: 'only aksscriptless is supported' }],
    useSig ? [{ option: '--use-sig=true', sentence: 'shared image galleries are not supported' }] : [],
    manageExistingAksMachines
      ? [{ option: '--manage-existing-aks-machines=true', sentence: 'AKS machines are not supported' }]
      : [],
  ].flat();
  if (problems.length > 0) throw new NodewrightError('UnsupportedOptions', { problems });
}
