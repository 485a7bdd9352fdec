/** The node bootstrapping API: custom data and command for a provision profile, with a token placeholder. */
import type { ArmContext } from '../armContext.ts';
import { refusal } from '../refusal.ts';
import { IMAGE_GALLERIES } from '../compute/imageCatalogue.ts';
import { newestImageVersion } from '../compute/imageReleases.ts';
import { asText, at, listAt, objectAt, textAt, textsAt, type JsonObject } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';
import { ok, openRoute, type ArmRequest, type ArmResponse, type Route } from '../server/router.ts';
import { CLUSTER_PATH, MANAGED_CLUSTERS } from './managedClusters.ts';
import { resolvableNames } from './apiServerNames.ts';
import { renderNodeScript } from './nodeScript.ts';

/** Path of the bootstrapping server in the local Azure. */
const SERVER = '/bootstrapping';
const TOKEN_PLACEHOLDER = '{{.TokenID}}.{{.TokenSecret}}';
const REQUIRED: readonly string[] = [
  'name',
  'vmSize',
  'osType',
  'osSku',
  'storageProfile',
  'distro',
  'orchestratorVersion',
  'vnetCidrs',
  'vnetSubnetID',
  'mode',
  'architecture',
  'maxPods',
];
const REQUIRED_HELPERS: readonly string[] = ['skuCPU', 'skuMemory'];
const MODES: Readonly<Record<number, string>> = { 1: 'system', 2: 'user' };
/** Kubelet flags by the member of the custom kubelet configuration that sets them. */
const KUBELET_FLAGS: Readonly<Record<string, string>> = {
  allowedUnsafeSysctls: 'allowed-unsafe-sysctls',
  containerLogMaxFiles: 'container-log-max-files',
  cpuCfsQuota: 'cpu-cfs-quota',
  cpuCfsQuotaPeriod: 'cpu-cfs-quota-period',
  cpuManagerPolicy: 'cpu-manager-policy',
  failSwapOn: 'fail-swap-on',
  imageGcHighThreshold: 'image-gc-high-threshold',
  imageGcLowThreshold: 'image-gc-low-threshold',
  podMaxPids: 'pod-max-pids',
  topologyManagerPolicy: 'topology-manager-policy',
};

export function nodeBootstrappingRoutes(
  context: ArmContext,
  tokens: { check(authorization: unknown): unknown },
): readonly Route[] {
  const path = `${CLUSTER_PATH}/nodeBootstrapping`;
  // The existing client sends a GET with a body; POST is for clients that cannot.
  const served = (['GET', 'POST'] as const).map((method) => ({
    name: 'nodeBootstrapping.get',
    method,
    path,
    handle: (request: ArmRequest) => answer(context, request),
  }));
  // AKS serves it per cluster, outside ARM, so this route does not require an api-version.
  const own = openRoute('nodeBootstrapping.get', 'GET', `${SERVER}${path}`, (request) => {
    tokens.check(request.headers['authorization']);
    return answer(context, request);
  });
  return [...served, own];
}

function answer(context: ArmContext, { body, parameters: { group = '', name = '' } }: ArmRequest): ArmResponse {
  const cluster = context.store.get(group, MANAGED_CLUSTERS, name);
  const values = typeof body === 'string' ? parse(body) : body;
  const profile = objectAt(values, 'provisionProfile');
  const helpers = objectAt(values, 'provisionHelperValues');
  check('ProvisionProfile', profile, REQUIRED);
  check('ProvisionHelperValues', helpers, REQUIRED_HELPERS);
  const distro = textAt(profile, 'distro') ?? '';
  const image = imageOf(distro);
  return ok({
    customData: customDataOf(context, cluster, profile, helpers),
    cse: `/usr/bin/nohup /bin/bash -c "TLS_BOOTSTRAP_TOKEN=${TOKEN_PLACEHOLDER} CLUSTER=${cluster.name} /bin/bash /opt/azure/containers/provision_start.sh"`,
    osImageConfig: {
      imageOffer: 'aks',
      imagePublisher: 'microsoft-aks',
      imageSku: distro,
      imageVersion: newestImageVersion(context),
    },
    sigImageConfig: {
      subscriptionID: context.store.subscriptionId,
      sigImageConfigTemplate: { ...image, version: newestImageVersion(context) },
    },
  });
}

function customDataOf(context: ArmContext, cluster: ArmResource, profile: JsonObject, helpers: JsonObject): string {
  const kubelet = objectAt(profile, 'customKubeletConfig');
  const flags = Object.entries(KUBELET_FLAGS).flatMap(([member, flag]) => {
    const value = kubelet[member];
    if (value === undefined || value === null) return [];
    return [[flag, Array.isArray(value) ? value.join(',') : asText(value)] as const];
  });
  // The kubelet needs this feature gate for another period; AKS sets it.
  const gates = kubelet['cpuCfsQuotaPeriod'] === undefined ? {} : { 'feature-gates': 'CustomCPUCFSQuotaPeriod=true' };
  const architecture = textAt(profile, 'architecture') === 'Arm64' ? 'arm64' : 'amd64';
  return renderNodeScript({
    kubernetesVersion: (textAt(profile, 'orchestratorVersion') ?? '').replace(/^v/, ''),
    cpus: Number(helpers['skuCPU']),
    memoryGiB: Number(helpers['skuMemory']),
    maxPods: Number(profile['maxPods']),
    architecture,
    nvidia: at(profile, 'gpuProfile', 'installGPUDriver') === true,
    labels: {
      'kubernetes.azure.com/mode': MODES[Number(profile['mode'])] ?? 'user',
      'kubernetes.azure.com/role': 'agent',
      ...textsAt(profile, 'customNodeLabels'),
    },
    taints: ['nodeTaints', 'nodeInitializationTaints'].flatMap((member) => listAt(profile, member).map(String)),
    bootstrapToken: TOKEN_PLACEHOLDER,
    apiServerName: resolvableNames(cluster.properties)[0] ?? '',
    flags: { ...gates, ...Object.fromEntries(flags) },
    variables: {
      LOCATION: cluster.location ?? context.location,
      RESOURCE_GROUP: textAt(cluster.properties, 'nodeResourceGroup') ?? '',
      SUBSCRIPTION_ID: context.store.subscriptionId,
      VM_SIZE: textAt(profile, 'vmSize') ?? '',
      DISTRO: textAt(profile, 'distro') ?? '',
    },
  });
}

function check(what: string, given: JsonObject, required: readonly string[]): void {
  const missing =
    Object.keys(given).length === 0 ? undefined : required.find((member) => at(given, member) === undefined);
  if (Object.keys(given).length > 0 && missing === undefined) return;
  const message = missing === undefined ? `${what} cannot be empty` : `missing field: ${missing} cannot be empty`;
  throw refusal('MissingRequiredProperty', { message });
}

/** Returns the gallery that has images of a distro such as `aks-ubuntu-containerd-22.04-gen2`. */
function imageOf(distro: string): JsonObject {
  const gallery = IMAGE_GALLERIES.find(({ name }) => (name === 'AKSAzureLinux') === distro.includes('azurelinux'));
  return { resourceGroup: gallery?.resourceGroup, gallery: gallery?.name, definition: distro };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw refusal('InvalidRequestContent.bootstrapping');
  }
}
