/** Variables of the provisioning code on AKS node images. */
import type { AzureSettings } from '../azureSettings.ts';
import { atLeastMinor } from '../images.ts';
import { parseSubnetId } from '../network.ts';
import { installsGpuDriver, type BootstrapInput } from './bootstrapInput.ts';
import { containerdConfig } from './containerdConfig.ts';
import { gpuDriverOf } from './gpuDriver.ts';
import { formatFlags, kubeletFlags } from './kubeletFlags.ts';
import { linuxVariables, sysctlFile } from './linuxSettings.ts';

export type ScriptVariables = Readonly<Record<string, string>>;

const MIRROR = 'https://acs-mirror.azureedge.net';
const AZURE_CNI = '1.4.32';
const CNI_PLUGINS = '1.1.1';
/** Versions of the credential provider by minimum minor version of Kubernetes, newest first. */
const CREDENTIAL_PROVIDERS: readonly (readonly [minor: number, version: string])[] = [
  [33, '1.33.0'],
  [32, '1.32.5'],
  [31, '1.31.6'],
  [30, '1.30.12'],
];

const every = (value: string, names: string): ScriptVariables =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, value]),
  );

/** The same on every node. */
const FIXED: ScriptVariables = {
  ...every(
    '',
    `APISERVER_PUBLIC_KEY AZURE_ENVIRONMENT_FILEPATH AZURE_PRIVATE_REGISTRY_SERVER CONTAINERD_DOWNLOAD_URL_BASE
     CONTAINERD_PACKAGE_URL CONTAINERD_VERSION CUSTOM_ENV_JSON CUSTOM_KUBE_BINARY_URL CUSTOM_SEARCH_DOMAIN_NAME
     CUSTOM_SEARCH_REALM_PASSWORD CUSTOM_SEARCH_REALM_USER DHCPV6_CONFIG_FILEPATH DHCPV6_SERVICE_FILEPATH
     GPU_INSTANCE_PROFILE HTTPS_PROXY_URLS HTTP_PROXY_TRUSTED_CA HTTP_PROXY_URLS HYPERKUBE_URL
     KUBELET_CLIENT_CERT_CONTENT KUBELET_CLIENT_CONTENT KUBELET_CONFIG_FILE_CONTENT KUBEPROXY_URL MESSAGE_OF_THE_DAY
     MOBY_VERSION NETWORK_MODE NO_PROXY_URLS PRIMARY_AVAILABILITY_SET PRIMARY_SCALE_SET RUNC_PACKAGE_URL RUNC_VERSION
     TELEPORTD_PLUGIN_DOWNLOAD_URL`,
  ),
  ...every(
    'false',
    `DISABLE_SSH ENABLE_GPU_DEVICE_PLUGIN_IF_NEEDED ENABLE_HOSTS_CONFIG_AGENT ENABLE_IMDS_RESTRICTION
     ENABLE_KUBELET_SERVING_CERTIFICATE_ROTATION ENABLE_SECURE_TLS_BOOTSTRAPPING ENABLE_UNATTENDED_UPGRADES
     ENSURE_NO_DUPE_PROMISCUOUS_BRIDGE GPU_NEEDS_FABRIC_MANAGER HAS_CUSTOM_SEARCH_DOMAIN HAS_KUBELET_DISK_TYPE
     INSERT_IMDS_RESTRICTION_RULE_TO_MANGLE_TABLE IPV6_DUAL_STACK_ENABLED IS_CUSTOM_CLOUD IS_KATA IS_KRUSTLET
     KUBELET_CONFIG_FILE_ENABLED LOAD_BALANCER_DISABLE_OUTBOUND_SNAT MIG_NODE NEEDS_DOCKER_LOGIN SGX_NODE
     SHOULD_CONFIGURE_CUSTOM_CA_TRUST SHOULD_CONFIGURE_HTTP_PROXY SHOULD_CONFIGURE_HTTP_PROXY_CA TELEPORT_ENABLED`,
  ),
  ...every(
    'true',
    `CLOUDPROVIDER_BACKOFF CLOUDPROVIDER_RATELIMIT ENABLE_TLS_BOOTSTRAPPING EXCLUDE_MASTER_FROM_STANDARD_LB IS_VHD
     NEEDS_CGROUPV2 NEEDS_CONTAINERD USE_INSTANCE_METADATA USE_MANAGED_IDENTITY_EXTENSION`,
  ),
  ...every('0', 'CLOUDPROVIDER_BACKOFF_EXPONENT CLOUDPROVIDER_BACKOFF_JITTER CUSTOM_CA_TRUST_COUNT'),
  ...every('10', 'CLOUDPROVIDER_RATELIMIT_QPS CLOUDPROVIDER_RATELIMIT_QPS_WRITE'),
  ...every('100', 'CLOUDPROVIDER_RATELIMIT_BUCKET CLOUDPROVIDER_RATELIMIT_BUCKET_WRITE'),
  CLI_TOOL: 'ctr',
  CLOUDPROVIDER_BACKOFF_DURATION: '5',
  CLOUDPROVIDER_BACKOFF_MODE: 'v2',
  CLOUDPROVIDER_BACKOFF_RETRIES: '6',
  CONTAINER_RUNTIME: 'containerd',
  CSE_CONFIG_FILEPATH: '/opt/azure/containers/provision_configs.sh',
  CSE_DISTRO_HELPERS_FILEPATH: '/opt/azure/containers/provision_source_distro.sh',
  CSE_DISTRO_INSTALL_FILEPATH: '/opt/azure/containers/provision_installs_distro.sh',
  CSE_HELPERS_FILEPATH: '/opt/azure/containers/provision_source.sh',
  CSE_INSTALL_FILEPATH: '/opt/azure/containers/provision_installs.sh',
  CSE_TIMEOUT: '15m',
  CUSTOM_SEARCH_DOMAIN_FILEPATH: '/opt/azure/containers/setup-custom-search-domains.sh',
  LOAD_BALANCER_SKU: 'Standard',
  MAXIMUM_LOADBALANCER_RULE_COUNT: '250',
  SERVICE_PRINCIPAL_CLIENT_ID: 'msi',
  SERVICE_PRINCIPAL_FILE_CONTENT: base64('msi'),
  VM_TYPE: 'standard',
};

/** Sorted by name. */
export function scriptVariables(input: BootstrapInput): ScriptVariables {
  const { settings, spec } = input;
  const { registry } = settings.environment;
  const nvidia = installsGpuDriver(input.shape, spec);
  const variables: ScriptVariables = {
    ...FIXED,
    ...clusterVariables(input),
    ...networkVariables(input),
    ...outsideVariables(settings),
    ...downloadVariables(input),
    ...gpuVariables(input.instanceType, nvidia),
    ...linuxVariables(spec?.linuxOSConfig),
    CONTAINERD_CONFIG_CONTENT: base64(containerdConfig(registry, nvidia)),
    KUBELET_FLAGS: formatFlags(kubeletFlags(input)),
    KUBELET_NODE_LABELS: pairs(input.labels),
    MCR_REPOSITORY_BASE: registry,
    OUTBOUND_COMMAND: `curl -v --insecure --proxy-insecure https://${registry}/v2/`,
    SYSCTL_CONTENT: base64(sysctlFile(spec?.linuxOSConfig?.sysctls)),
  };
  return Object.fromEntries(Object.entries(variables).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

function clusterVariables({ settings, kubernetesVersion }: BootstrapInput): ScriptVariables {
  return {
    ADMINUSER: settings.linuxAdminUsername,
    API_SERVER_NAME: new URL(settings.clusterEndpoint).hostname,
    KUBERNETES_VERSION: kubernetesVersion,
    KUBE_CA_CRT: base64(settings.clusterCaPem),
    LOCATION: settings.location,
    RESOURCE_GROUP: settings.nodeResourceGroup,
    SUBSCRIPTION_ID: settings.subscriptionId,
    TARGET_CLOUD: settings.environment.name,
    TARGET_ENVIRONMENT: settings.environment.name,
    TENANT_ID: settings.tenantId,
    TLS_BOOTSTRAP_TOKEN: settings.kubeletBootstrapToken,
    USER_ASSIGNED_IDENTITY_ID: settings.kubeletIdentityClientId,
  };
}

function networkVariables({ settings, subnetId, securityGroup }: BootstrapInput): ScriptVariables {
  const subnet = parseSubnetId(subnetId);
  // With an overlay or Cilium, pod addresses come from an agent on the node, not from a plug-in in the image.
  const hosted = settings.networkPluginMode === 'overlay' || settings.networkDataplane === 'cilium';
  return {
    NETWORK_PLUGIN: settings.networkPlugin === 'none' || hosted ? 'none' : 'azure',
    NETWORK_POLICY: settings.networkPolicy,
    NETWORK_SECURITY_GROUP: securityGroup.name,
    ROUTE_TABLE: `aks-agentpool-${securityGroup.clusterId}-routetable`,
    SUBNET: subnet?.subnet ?? '',
    VIRTUAL_NETWORK: subnet?.virtualNetwork ?? '',
    VIRTUAL_NETWORK_RESOURCE_GROUP: subnet?.resourceGroup ?? '',
  };
}

/** The node's proxy for outgoing traffic, and its additional trusted certificates. */
function outsideVariables({ nodeProxy, nodeTrustedCas }: AzureSettings): ScriptVariables {
  const { http, https, except } = nodeProxy;
  const certificates = nodeTrustedCas.map((pem, index) => [`CUSTOM_CA_CERT_${index}`, base64(pem)] as const);
  return {
    SHOULD_CONFIGURE_HTTP_PROXY: String(http !== '' || https !== ''),
    HTTP_PROXY_URLS: http,
    HTTPS_PROXY_URLS: https,
    NO_PROXY_URLS: except.join(','),
    SHOULD_CONFIGURE_CUSTOM_CA_TRUST: String(certificates.length > 0),
    CUSTOM_CA_TRUST_COUNT: String(certificates.length),
    ...Object.fromEntries(certificates),
  };
}

function downloadVariables({ kubernetesVersion, architecture }: BootstrapInput): ScriptVariables {
  const provider = CREDENTIAL_PROVIDERS.find(([minor]) => atLeastMinor(kubernetesVersion, minor))?.[1];
  // Images for 1.34 and later include the binaries.
  const baked = atLeastMinor(kubernetesVersion, 34);
  return {
    CNI_PLUGINS_URL: `${MIRROR}/cni-plugins/v${CNI_PLUGINS}/binaries/cni-plugins-linux-${architecture}-v${CNI_PLUGINS}.tgz`,
    CREDENTIAL_PROVIDER_DOWNLOAD_URL:
      provider === undefined
        ? ''
        : `${MIRROR}/cloud-provider-azure/v${provider}/binaries/azure-acr-credential-provider-linux-${architecture}-v${provider}.tar.gz`,
    KUBE_BINARY_URL: baked
      ? ''
      : `${MIRROR}/kubernetes/v${kubernetesVersion}/binaries/kubernetes-node-linux-${architecture}.tar.gz`,
    VNET_CNI_PLUGINS_URL: `${MIRROR}/azure-cni/v${AZURE_CNI}/binaries/azure-vnet-cni-linux-${architecture}-v${AZURE_CNI}.tgz`,
  };
}

function gpuVariables(instanceType: string, nvidia: boolean): ScriptVariables {
  const driver = nvidia ? gpuDriverOf(instanceType) : undefined;
  return {
    CONFIG_GPU_DRIVER_IF_NEEDED: String(nvidia),
    GPU_DRIVER_TYPE: driver?.type ?? '',
    GPU_DRIVER_VERSION: driver?.version ?? '',
    GPU_IMAGE_SHA: driver?.imageSuffix ?? '',
    GPU_NODE: String(nvidia),
  };
}

function pairs(record: ScriptVariables): string {
  return Object.entries(record)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
