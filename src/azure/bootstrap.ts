/**
 * The script that a VM runs at its first start, in Base64, for the provisioning code on AKS images. The same input
 * gives the same bytes.
 */
import type { Taint } from '../api/kinds/nodeTemplate.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { AksNodeClassSpec } from '../api/kinds/aksNodeClass.ts';
import { Taints } from '../api/labels.ts';
import type { AzureSettings } from './azureSettings.ts';
import { atLeastMinor } from './images.ts';
import { parseSubnetId, type SecurityGroup } from './network.ts';
import {
  EVICTION_HARD,
  kubeReservedMebibytes,
  kubeReservedMillicores,
  type MachineShape,
} from '../catalogue/overhead.ts';

export interface BootstrapInput {
  readonly settings: AzureSettings;
  readonly shape: MachineShape;
  readonly architecture: string;
  readonly kubelet: AksNodeClassSpec['kubelet'];
  readonly subnetId: string;
  readonly securityGroup: SecurityGroup;
  readonly kubernetesVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
}

/** The claim's taints and start-up taints, and the one that keeps pods away until the node is registered. */
export function bootstrapTaints({ spec }: NodeClaim): readonly Taint[] {
  const taints = [...(spec.taints ?? []), ...(spec.startupTaints ?? [])];
  const { key, effect } = Taints.unregistered;
  const present = taints.some((taint) => taint.key === key && taint.effect === effect);
  return present ? taints : [...taints, { key, effect }];
}

export function renderCustomData(input: BootstrapInput): string {
  return Buffer.from(renderScript(input)).toString('base64');
}

function renderScript(input: BootstrapInput): string {
  const variables = Object.entries(variablesOf(input)).map(([name, value]) => `${name}=${quote(value)}`);
  return [
    '#!/bin/bash',
    'set -o allexport',
    // The image's own scripts end with this mark once they are completely written.
    'echo EOF >> /opt/azure/manifest.json',
    'mkdir -p /var/log/azure/Microsoft.Azure.Extensions.CustomScript/events',
    'for i in $(seq 1 1200); do grep -Fq EOF /opt/azure/containers/provision.sh && break; sleep 1; done',
    ...variables,
    '/usr/bin/nohup /bin/bash -c "/bin/bash /opt/azure/containers/provision_start.sh"',
    '',
  ].join('\n');
}

function variablesOf(input: BootstrapInput): Readonly<Record<string, string>> {
  const { settings, securityGroup, kubernetesVersion } = input;
  const subnet = parseSubnetId(input.subnetId);
  const hosted = settings.networkPluginMode === 'overlay' || settings.networkDataplane === 'cilium';
  return {
    ADMINUSER: settings.linuxAdminUsername,
    TENANT_ID: settings.tenantId,
    SUBSCRIPTION_ID: settings.subscriptionId,
    RESOURCE_GROUP: settings.nodeResourceGroup,
    LOCATION: settings.location,
    VM_TYPE: 'standard',
    USER_ASSIGNED_IDENTITY_ID: settings.kubeletIdentityClientId,
    SERVICE_PRINCIPAL_CLIENT_ID: 'msi',
    SERVICE_PRINCIPAL_FILE_CONTENT: Buffer.from('msi').toString('base64'),
    USE_MANAGED_IDENTITY_EXTENSION: 'true',
    USE_INSTANCE_METADATA: 'true',
    API_SERVER_NAME: new URL(settings.clusterEndpoint).host,
    KUBE_CA_CRT: Buffer.from(settings.clusterCaPem).toString('base64'),
    TLS_BOOTSTRAP_TOKEN: settings.kubeletBootstrapToken,
    ENABLE_TLS_BOOTSTRAPPING: 'true',
    ENABLE_SECURE_TLS_BOOTSTRAPPING: 'false',
    KUBERNETES_VERSION: kubernetesVersion,
    NETWORK_PLUGIN: settings.networkPlugin === 'none' || hosted ? 'none' : 'azure',
    NETWORK_POLICY: settings.networkPolicy,
    SUBNET: subnet?.subnet ?? '',
    VIRTUAL_NETWORK: subnet?.virtualNetwork ?? '',
    VIRTUAL_NETWORK_RESOURCE_GROUP: subnet?.resourceGroup ?? '',
    NETWORK_SECURITY_GROUP: securityGroup.name,
    ROUTE_TABLE: `aks-agentpool-${securityGroup.clusterId}-routetable`,
    LOAD_BALANCER_SKU: 'Standard',
    MAXIMUM_LOADBALANCER_RULE_COUNT: '250',
    EXCLUDE_MASTER_FROM_STANDARD_LB: 'true',
    CONTAINER_RUNTIME: 'containerd',
    CLI_TOOL: 'ctr',
    IS_VHD: 'true',
    MCR_REPOSITORY_BASE: settings.environment.registry,
    TARGET_CLOUD: settings.environment.name,
    TARGET_ENVIRONMENT: settings.environment.name,
    CSE_TIMEOUT: '15m',
    ARCHITECTURE: input.architecture,
    KUBELET_FLAGS: kubeletFlags(input),
    KUBELET_NODE_LABELS: pairs(input.labels),
    KUBELET_REGISTER_WITH_TAINTS: taintList(input.taints),
  };
}

function kubeletFlags(input: BootstrapInput): string {
  const { kubelet, shape, settings, kubernetesVersion } = input;
  const flags: Record<string, string | undefined> = {
    address: '0.0.0.0',
    'anonymous-auth': 'false',
    'authentication-token-webhook': 'true',
    'authorization-mode': 'Webhook',
    'cgroups-per-qos': 'true',
    'client-ca-file': '/etc/kubernetes/certs/ca.crt',
    'cloud-config': atLeastMinor(kubernetesVersion, 34) ? undefined : '/etc/kubernetes/azure.json',
    'cloud-provider': 'external',
    'cluster-dns': settings.dnsServiceIp,
    'cluster-domain': 'cluster.local',
    'enforce-node-allocatable': 'pods',
    'event-qps': '0',
    'eviction-hard': `${EVICTION_HARD},nodefs.inodesFree<5%`,
    'image-gc-high-threshold': String(kubelet?.imageGCHighThresholdPercent ?? 85),
    'image-gc-low-threshold': String(kubelet?.imageGCLowThresholdPercent ?? 80),
    'kube-reserved': `cpu=${kubeReservedMillicores(shape.cpus)}m,memory=${kubeReservedMebibytes(shape.memoryGiB)}Mi`,
    kubeconfig: '/var/lib/kubelet/kubeconfig',
    'max-pods': String(shape.maxPods),
    'node-status-update-frequency': '10s',
    'pod-manifest-path': '/etc/kubernetes/manifests',
    'pod-max-pids': String(kubelet?.podPidsLimit ?? -1),
    'protect-kernel-defaults': 'true',
    'read-only-port': '0',
    'register-with-taints': taintList(input.taints),
    'resolv-conf': '/run/systemd/resolve/resolv.conf',
    'rotate-certificates': 'true',
    'streaming-connection-idle-timeout': '4h',
    'system-reserved': 'cpu=0,memory=0',
    'cpu-cfs-quota': kubelet?.cpuCFSQuota === undefined ? undefined : String(kubelet.cpuCFSQuota),
    'cpu-manager-policy': kubelet?.cpuManagerPolicy,
    'topology-manager-policy': kubelet?.topologyManagerPolicy,
    'container-log-max-size': kubelet?.containerLogMaxSize,
    'container-log-max-files':
      kubelet?.containerLogMaxFiles === undefined ? undefined : String(kubelet.containerLogMaxFiles),
    'allowed-unsafe-sysctls': kubelet?.allowedUnsafeSysctls?.join(','),
  };
  return Object.entries(flags)
    .filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '')
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => `--${name}=${value}`)
    .join(' ');
}

function pairs(record: Readonly<Record<string, string>>): string {
  return Object.entries(record)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

function taintList(taints: readonly Taint[]): string {
  return taints.map(({ key, value, effect }) => `${key}=${value ?? ''}:${effect}`).join(',');
}

/** Single quotes keep the shell from reading anything into a value. */
function quote(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}
