/** The custom data of a node: a script with the variables that the provisioning code on AKS images reads. */
import { IMAGE_VALUES } from '../../kubelet/startScript.ts';
import { EVICTION_HARD, kubeReservedMebibytes, kubeReservedMillicores } from '../../../catalogue/overhead.ts';

export interface NodeScript {
  readonly kubernetesVersion: string;
  readonly cpus: number;
  readonly memoryGiB: number;
  readonly maxPods: number;
  readonly architecture: 'amd64' | 'arm64';
  /** Whether an NVIDIA driver is installed. */
  readonly nvidia: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** `key=value:effect` or `key:effect`. */
  readonly taints: readonly string[];
  readonly bootstrapToken: string;
  readonly apiServerName: string;
  /** Kubelet flags that the profile sets, by name. */
  readonly flags: Readonly<Record<string, string>>;
  /** Further variables. */
  readonly variables: Readonly<Record<string, string>>;
}

const CONTAINERD = `version = 2
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "mcr.microsoft.com/oss/kubernetes/pause:3.6"
[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "RUNTIME"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = true
[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "/etc/containerd/certs.d"
`;
const MIRROR = 'https://acs-mirror.azureedge.net';
/** Stands for the CA certificate of the control plane, which simulated nodes do not check. */
const AUTHORITY = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n';
const DIGITS = '00000000';

export function renderNodeScript(node: NodeScript): string {
  const flags: Readonly<Record<string, string>> = {
    'client-ca-file': '/etc/kubernetes/certs/ca.crt',
    'cloud-provider': 'external',
    'cluster-dns': '10.0.0.10',
    'eviction-hard': `${EVICTION_HARD},nodefs.inodesFree<5%`,
    'kube-reserved': `cpu=${kubeReservedMillicores(node.cpus)}m,memory=${kubeReservedMebibytes(node.memoryGiB)}Mi`,
    kubeconfig: '/var/lib/kubelet/kubeconfig',
    'max-pods': String(node.maxPods),
    'register-with-taints': node.taints.join(','),
    'rotate-certificates': 'true',
    'system-reserved': 'cpu=0,memory=0',
    ...node.flags,
  };
  const variables: Readonly<Record<string, string>> = {
    ...FIXED,
    ...downloads(node.kubernetesVersion, node.architecture),
    ...gpuVariables(node.nvidia),
    ...node.variables,
    KUBERNETES_VERSION: node.kubernetesVersion,
    API_SERVER_NAME: node.apiServerName,
    TLS_BOOTSTRAP_TOKEN: node.bootstrapToken,
    KUBELET_FLAGS: sorted(flags)
      .map(([name, value]) => `--${name}=${value}`)
      .join(' '),
    KUBELET_NODE_LABELS: sorted(node.labels)
      .map(([name, value]) => `${name}=${value}`)
      .join(','),
  };
  const lines = [
    '#!/bin/bash',
    'set -o allexport',
    ...Object.entries(variables).map(([name, value]) => `${name}=${quote(value)}`),
    '/bin/bash /opt/azure/containers/provision_start.sh',
    '',
  ];
  return Buffer.from(lines.join('\n')).toString('base64');
}

const FIXED: Readonly<Record<string, string>> = {
  ...IMAGE_VALUES,
  KUBE_CA_CRT: base64(AUTHORITY),
  SERVICE_PRINCIPAL_FILE_CONTENT: base64('msi'),
  NETWORK_PLUGIN: 'none',
  SUBNET: 'aks-subnet',
  VIRTUAL_NETWORK: `aks-vnet-${DIGITS}`,
  VIRTUAL_NETWORK_RESOURCE_GROUP: 'aks',
  NETWORK_SECURITY_GROUP: `aks-agentpool-${DIGITS}-nsg`,
  ROUTE_TABLE: `aks-agentpool-${DIGITS}-routetable`,
  TARGET_CLOUD: 'AzurePublicCloud',
  MCR_REPOSITORY_BASE: 'mcr.microsoft.com',
  SYSCTL_CONTENT: base64('net.core.somaxconn=16384\n'),
};

function downloads(version: string, architecture: string): Readonly<Record<string, string>> {
  const minor = Number(/^1\.(\d+)/.exec(version)?.[1] ?? 0);
  const linux = `-linux-${architecture}`;
  return {
    KUBE_BINARY_URL: minor < 34 ? `${MIRROR}/kubernetes/v${version}/binaries/kubernetes-node${linux}.tar.gz` : '',
    CREDENTIAL_PROVIDER_DOWNLOAD_URL: minor < 30 ? '' : `${MIRROR}/credential-provider${linux}.tar.gz`,
    CNI_PLUGINS_URL: `${MIRROR}/cni-plugins${linux}.tgz`,
    VNET_CNI_PLUGINS_URL: `${MIRROR}/azure-vnet-cni${linux}.tgz`,
  };
}

function gpuVariables(nvidia: boolean): Readonly<Record<string, string>> {
  const given = (value: string): string => (nvidia ? value : '');
  return {
    GPU_NODE: String(nvidia),
    CONFIG_GPU_DRIVER_IF_NEEDED: String(nvidia),
    GPU_DRIVER_TYPE: given('cuda-lts'),
    GPU_DRIVER_VERSION: given('580'),
    GPU_IMAGE_SHA: given('1'),
    CONTAINERD_CONFIG_CONTENT: base64(CONTAINERD.replace('RUNTIME', nvidia ? 'nvidia-container-runtime' : 'runc')),
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function sorted(record: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(record).toSorted(([left], [right]) => (left < right ? -1 : 1));
}

/** Quotes a value for the shell. */
function quote(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}
