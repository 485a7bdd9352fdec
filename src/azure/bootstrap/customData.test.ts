import { describe, expect, it } from 'vitest';
import { kubeletDefaults } from '../../../test/fixtures/azure/kubeletDefaults.ts';
import { clusterAccess } from '../../../test/fixtures/local/clusterAccess.ts';
import type { AksNodeClassSpec } from '../../api/kinds/aksNodeClass.ts';
import { readStartScript, type BootedFrom } from '../../local/kubelet/startScript.ts';
import { environmentNamed, type AzureEnvironment } from '../azureEnvironment.ts';
import { azureSettings, type AzureSettings } from '../azureSettings.ts';
import type { BootstrapInput } from './bootstrapInput.ts';
import { renderCustomData } from './customData.ts';
import { scriptVariables } from './scriptVariables.ts';

const GROUP = 'MC_rg_cluster_southcentralus';
const SUBNET = `/subscriptions/sub/resourceGroups/${GROUP}/providers/Microsoft.Network/virtualNetworks/aks-vnet-12345678/subnets/aks-subnet`;
const HOST: BootedFrom = {
  location: 'southcentralus',
  resourceGroup: GROUP,
  subscriptionId: 'sub',
  architecture: 'amd64',
  apiServerNames: ['cluster.hcp.southcentralus.azmk8s.io'],
};

function settings(more: Partial<AzureSettings> = {}): AzureSettings {
  return azureSettings({
    environment: environmentNamed('AzurePublicCloud') as AzureEnvironment,
    subscriptionId: 'sub',
    tenantId: 'tenant',
    location: 'southcentralus',
    nodeResourceGroup: GROUP,
    clusterName: 'cluster',
    clusterEndpoint: 'https://cluster.hcp.southcentralus.azmk8s.io:443',
    vnetSubnetId: SUBNET,
    kubeletIdentityClientId: '61f71907-753f-4802-a901-47361c3664f2',
    ...clusterAccess,
    ...more,
  });
}

function input(more: Partial<BootstrapInput> = {}, nvidia = false): BootstrapInput {
  return {
    settings: settings(),
    instanceType: nvidia ? 'Standard_NC24ads_A100_v4' : 'Standard_D2s_v3',
    shape: {
      cpus: 2,
      memoryGiB: 8,
      osDiskSizeGB: 128,
      maxPods: 250,
      gpus: nvidia ? 1 : 0,
      gpuManufacturer: nvidia ? 'nvidia' : undefined,
      memoryOverheadPercent: 0.075,
    },
    architecture: 'amd64',
    spec: undefined,
    subnetId: SUBNET,
    securityGroup: { id: 'nsg', name: 'aks-agentpool-12345678-nsg', clusterId: '12345678' },
    kubernetesVersion: '1.33.5',
    labels: { 'karpenter.sh/nodepool': 'pool' },
    taints: { regular: [], startup: [{ key: 'karpenter.sh/unregistered', effect: 'NoExecute' }] },
    ...more,
  };
}

const CLASS_WITH_EVERYTHING: AksNodeClassSpec = {
  imageFamily: 'Ubuntu2204',
  osDiskSizeGB: 128,
  kubelet: {
    cpuManagerPolicy: 'static',
    cpuCFSQuota: true,
    cpuCFSQuotaPeriod: '200ms',
    topologyManagerPolicy: 'best-effort',
    containerLogMaxSize: '100Mi',
    containerLogMaxFiles: 7,
    imageGCHighThresholdPercent: 70,
    imageGCLowThresholdPercent: 60,
    allowedUnsafeSysctls: ['net.core.somaxconn', 'kernel.msg*'],
    podPidsLimit: 4096,
    failSwapOn: false,
  },
  linuxOSConfig: {
    swapFileSize: '1500Mi',
    transparentHugePageEnabled: 'madvise',
    transparentHugePageDefrag: 'defer+madvise',
    sysctls: {
      netCoreSomaxconn: 32768,
      netIPv4TCPTwReuse: true,
      netIPv4IPLocalPortRange: '1024 65000',
      vmSwappiness: 10,
    },
  },
};

/** The differences to the default launch. */
function difference(variant: BootstrapInput): Readonly<Record<string, string>> {
  const base = scriptVariables(input());
  return Object.fromEntries(Object.entries(scriptVariables(variant)).filter(([name, value]) => base[name] !== value));
}

const decoded = (text: string | undefined): string => Buffer.from(text ?? '', 'base64').toString();
const flagsOf = (variables: Readonly<Record<string, string>>): readonly string[] =>
  (variables['KUBELET_FLAGS'] ?? '').split(' ');

describe('the start-up script of a node', () => {
  it('sets every variable of a default launch', () => {
    const { KUBELET_FLAGS: _flags, ...variables } = scriptVariables(input());
    expect(Object.keys(variables)).toHaveLength(127);
    expect(variables).toMatchSnapshot('variables');
    expect(decoded(variables['CONTAINERD_CONFIG_CONTENT'])).toMatchSnapshot('containerd');
    expect(decoded(variables['SYSCTL_CONTENT'])).toMatchSnapshot('sysctl');
  });

  it.each(['1.29.9', '1.30.4', '1.31.1', '1.32.0', '1.33.5', '1.34.2', '1.35.0'])(
    'starts a kubelet of %s with the flags that it knows',
    (kubernetesVersion) => {
      const variables = difference(input({ kubernetesVersion }));
      const { KUBE_BINARY_URL = '(as before)', CREDENTIAL_PROVIDER_DOWNLOAD_URL = '(as before)' } = variables;
      const flags = flagsOf(scriptVariables(input({ kubernetesVersion })));
      expect({ flags, KUBE_BINARY_URL, CREDENTIAL_PROVIDER_DOWNLOAD_URL }).toMatchSnapshot();
      expect(started(input({ kubernetesVersion }))).toMatchObject({ kubernetesVersion });
    },
  );

  it('is deterministic, and disables shell expansion in values', () => {
    const quoted = input({ labels: { odd: `it's $(here)` } });
    expect(renderCustomData(quoted)).toBe(renderCustomData(quoted));
    expect(decoded(renderCustomData(quoted))).toContain(`KUBELET_NODE_LABELS='odd=it'\\''s $(here)'`);
    expect(started(quoted)).toMatchObject({ labels: { odd: `it's $(here)` } });
  });

  it.each([
    ['overlay with Cilium', {}, 'none'],
    ['overlay', { networkDataplane: 'azure' }, 'none'],
    ['node subnet with Cilium', { networkPluginMode: '' }, 'none'],
    ['node subnet', { networkPluginMode: '', networkDataplane: '' }, 'azure'],
    ['no plugin', { networkPlugin: 'none', networkPluginMode: '', networkDataplane: '' }, 'none'],
  ] as const)('sets up the network of %s', (_name, more, plugin) => {
    const variant = input({ settings: settings({ ...more, networkPolicy: 'cilium' }) });
    expect(scriptVariables(variant)).toMatchObject({ NETWORK_PLUGIN: plugin, NETWORK_POLICY: 'cilium' });
  });

  it('carries the settings of the class', () => {
    const variables = difference(input({ spec: CLASS_WITH_EVERYTHING }));
    const base = new Set(flagsOf(scriptVariables(input())));
    expect({
      ...variables,
      KUBELET_FLAGS: flagsOf(variables).filter((flag) => !base.has(flag)),
      SYSCTL_CONTENT: decoded(variables['SYSCTL_CONTENT']),
    }).toMatchSnapshot();
    expect(started(input({ spec: CLASS_WITH_EVERYTHING }))).not.toHaveProperty('problem');
  });

  it.each([
    ['1.29.9', '200ms', 'DisableKubeletCloudCredentialProviders=false,CustomCPUCFSQuotaPeriod=true'],
    ['1.35.0', '200ms', 'CustomCPUCFSQuotaPeriod=true'],
    ['1.36.3', '200ms', undefined],
    ['1.35.0', '100ms', undefined],
    ['1.35.0', '0.1s', undefined],
    ['1.35.0', '0s', undefined],
  ])('starts a kubelet of %s with a CPU quota period of %s', (kubernetesVersion, cpuCFSQuotaPeriod, gates) => {
    const kubelet = { ...kubeletDefaults, cpuCFSQuotaPeriod };
    const spec: AksNodeClassSpec = { imageFamily: 'Ubuntu', osDiskSizeGB: 128, kubelet };
    const node = started(input({ kubernetesVersion, spec }));
    if ('problem' in node) throw new Error(node.problem);
    expect(node.flags.get('feature-gates')).toBe(gates);
    expect(node.flags.get('cpu-cfs-quota-period')).toBe(cpuCFSQuotaPeriod === '200ms' ? '200ms' : undefined);
  });

  it('writes sizes with K as Kubernetes reads them', () => {
    const spec: AksNodeClassSpec = {
      imageFamily: 'Ubuntu',
      osDiskSizeGB: 128,
      kubelet: { ...kubeletDefaults, containerLogMaxSize: '20000K' },
      linuxOSConfig: { swapFileSize: '1500000K' },
    };
    const variables = scriptVariables(input({ spec }));
    expect(flagsOf(variables)).toContain('--container-log-max-size=20000k');
    expect(variables).toMatchObject({ SWAP_FILE_SIZE_MB: '1431' });
    expect(started(input({ spec }))).not.toHaveProperty('problem');
  });

  it.each([
    ['Standard_NC24ads_A100_v4', 'cuda-lts 580.159.04 20260629214430'],
    ['Standard_NC16as_T4_v3', 'cuda-lts 580.159.04 20260629214430'],
    ['Standard_NC6', 'cuda 470.82.01 20260629214430'],
    ['Standard_NC24r_Promo', 'cuda 470.82.01 20260629214430'],
    ['Standard_NV36adms_A10_v5', 'grid 570.211.01 20260522192315'],
    ['Standard_NC8ads_A10_v4', 'grid 570.211.01 20260522192315'],
    ['Standard_NC144lds_xl_RTXPRO6000BSE_v6', 'grid-v20 595.58.03 20260609172331'],
  ])('installs the driver of %s, unless the class wants none', (instanceType, expected) => {
    const { GPU_NODE, CONFIG_GPU_DRIVER_IF_NEEDED, ...variables } = scriptVariables(input({ instanceType }, true));
    expect([GPU_NODE, CONFIG_GPU_DRIVER_IF_NEEDED]).toEqual(['true', 'true']);
    const containerd = decoded(variables['CONTAINERD_CONFIG_CONTENT']);
    expect(containerd).toContain(
      'runtimes.nvidia-container-runtime.options]\nBinaryName = "/usr/bin/nvidia-container-runtime"',
    );
    expect(containerd).not.toContain('/usr/bin/runc');
    expect([variables['GPU_DRIVER_TYPE'], variables['GPU_DRIVER_VERSION'], variables['GPU_IMAGE_SHA']].join(' ')).toBe(
      expected,
    );
    const none: AksNodeClassSpec = { imageFamily: 'Ubuntu', osDiskSizeGB: 128, gpu: { mode: 'None' } };
    expect(difference(input({ instanceType, spec: none }, true))).toEqual({});
  });

  it('runs every container of a GPU node in the NVIDIA runtime', () => {
    const { CONTAINERD_CONFIG_CONTENT } = scriptVariables(input({}, true));
    expect(decoded(CONTAINERD_CONFIG_CONTENT)).toMatchSnapshot();
  });

  it('downloads what the hardware needs', () => {
    const variables = Object.entries(difference(input({ architecture: 'arm64' })));
    expect(variables.map(([name]) => name)).toEqual([
      'CNI_PLUGINS_URL',
      'CREDENTIAL_PROVIDER_DOWNLOAD_URL',
      'KUBE_BINARY_URL',
      'VNET_CNI_PLUGINS_URL',
    ]);
    for (const [, value] of variables) expect(value).toContain('-linux-arm64');
  });

  it('names the cloud and its registry', () => {
    const environment = environmentNamed('AzureChinaCloud') as AzureEnvironment;
    expect(scriptVariables(input({ settings: settings({ environment }) }))).toMatchObject({
      TARGET_CLOUD: 'AzureChinaCloud',
      TARGET_ENVIRONMENT: 'AzureChinaCloud',
      MCR_REPOSITORY_BASE: 'mcr.azure.cn',
      OUTBOUND_COMMAND: 'curl -v --insecure --proxy-insecure https://mcr.azure.cn/v2/',
    });
  });

  it('gives nodes the proxy and the certificates for outgoing traffic', () => {
    const nodeProxy = { http: 'http://proxy:3128', https: 'http://proxy:3129', except: ['10.0.0.0/8', '.corp'] };
    const outside = settings({ nodeProxy, nodeTrustedCas: ['one', 'two'] });
    expect(difference(input({ settings: outside }))).toEqual({
      CUSTOM_CA_CERT_0: Buffer.from('one').toString('base64'),
      CUSTOM_CA_CERT_1: Buffer.from('two').toString('base64'),
      CUSTOM_CA_TRUST_COUNT: '2',
      HTTPS_PROXY_URLS: 'http://proxy:3129',
      HTTP_PROXY_URLS: 'http://proxy:3128',
      NO_PROXY_URLS: '10.0.0.0/8,.corp',
      SHOULD_CONFIGURE_CUSTOM_CA_TRUST: 'true',
      SHOULD_CONFIGURE_HTTP_PROXY: 'true',
    });
    expect(started(input({ settings: outside }))).not.toHaveProperty('problem');
  });

  it('leaves the port out of the name of the API server', () => {
    const other = settings({ clusterEndpoint: 'https://api.example.com:6443' });
    expect(scriptVariables(input({ settings: other }))['API_SERVER_NAME']).toBe('api.example.com');
  });
});

function started(variant: BootstrapInput): ReturnType<typeof readStartScript> {
  return readStartScript(decoded(renderCustomData(variant)), HOST);
}

describe('a node image', () => {
  const script = decoded(renderCustomData(input({}, true)));

  it.each([
    ['API_SERVER_NAME', 'https://api:443'],
    ['KUBE_CA_CRT', ''],
    ['TLS_BOOTSTRAP_TOKEN', '{{.TokenID}}.{{.TokenSecret}}'],
    ['KUBERNETES_VERSION', ''],
    ['RESOURCE_GROUP', 'other'],
    ['LOCATION', 'eastus'],
    ['SERVICE_PRINCIPAL_CLIENT_ID', ''],
    ['NETWORK_PLUGIN', 'calico'],
    ['CNI_PLUGINS_URL', 'https://x/cni-linux-arm64.tgz'],
    ['KUBE_BINARY_URL', ''],
    ['CREDENTIAL_PROVIDER_DOWNLOAD_URL', ''],
    ['CONTAINERD_CONFIG_CONTENT', ''],
    ['SYSCTL_CONTENT', ''],
    ['GPU_DRIVER_TYPE', ''],
    ['CSE_HELPERS_FILEPATH', ''],
    ['KUBELET_FLAGS', '--max-pods=30'],
    ['KUBELET_NODE_LABELS', 'kubernetes.io/role=agent'],
  ])('does not join when %s is wrong', (name, value) => {
    const edited = script.replace(new RegExp(`^${name}='.*'$`, 'm'), `${name}='${value}'`);
    expect(edited).not.toBe(script);
    expect(readStartScript(edited, HOST)).toEqual({ problem: `${name} is wrong` });
    const removed = script.replace(new RegExp(`^${name}='.*'\n`, 'm'), '');
    expect(readStartScript(removed, HOST)).toEqual({ problem: `${name} is not set` });
  });

  it.each([
    ['--cpu-cfs-quota-period=200ms'],
    ['--cpu-cfs-quota-period=2s --feature-gates=CustomCPUCFSQuotaPeriod=true'],
    ['--container-log-max-size=500K'],
    ['--image-gc-low-threshold=90'],
  ])('does not join with values that its kubelet refuses: %s', (more) => {
    const edited = script
      .replace("KUBELET_FLAGS='", `KUBELET_FLAGS='${more} `)
      .replace(/ --image-gc-low-threshold=80/, more.includes('gc-low') ? '' : '$&');
    expect(readStartScript(edited, HOST)).toEqual({ problem: 'KUBELET_FLAGS is wrong' });
  });

  it('does not join with flags that its kubelet has dropped, or without being started', () => {
    const newer = script.replace("KUBERNETES_VERSION='1.33.5'", "KUBERNETES_VERSION='1.34.0'");
    expect(readStartScript(newer, HOST)).toEqual({ problem: 'KUBELET_FLAGS is wrong' });
    expect(readStartScript(script.replace('provision_start', 'nothing'), HOST)).toHaveProperty('problem');
  });
});
