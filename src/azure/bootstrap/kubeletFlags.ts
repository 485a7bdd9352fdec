/** The kubelet's command line, by Kubernetes version, class and instance type. */
import type { AksNodeClassSpec } from '../../api/kinds/aksNodeClass.ts';
import { EVICTION_HARD, kubeReservedMebibytes, kubeReservedMillicores } from '../../catalogue/overhead.ts';
import type { ConditionCause } from '../../ledger/conditionText.ts';
import { Duration } from '../../units/duration.ts';
import { atLeastMinor } from '../images.ts';
import { formatTaint, type BootstrapInput } from './bootstrapInput.ts';
import { pauseImage } from './containerdConfig.ts';
import { kubernetesQuantity } from './linuxSettings.ts';

export type KubeletFlags = Readonly<Record<string, string>>;

const CREDENTIAL_PROVIDER = '/var/lib/kubelet/credential-provider';
const CLOUD_CONFIG = '/etc/kubernetes/azure.json';
/** The kubelet's default, which the CRD sets in every class with a kubelet setting. In milliseconds. */
const DEFAULT_CFS_PERIOD = 100;
const LEAST_CFS_PERIOD = 1;
const LONGEST_CFS_PERIOD = 1_000;
const IMAGE_GC_HIGH = 85;
const IMAGE_GC_LOW = 80;
const CIPHER_SUITES: readonly string[] = [
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_RSA_WITH_AES_128_GCM_SHA256',
];

/** The same on every node. */
const BASE: KubeletFlags = {
  address: '0.0.0.0',
  'anonymous-auth': 'false',
  'authentication-token-webhook': 'true',
  'authorization-mode': 'Webhook',
  'cgroups-per-qos': 'true',
  'client-ca-file': '/etc/kubernetes/certs/ca.crt',
  'cloud-provider': 'external',
  'cluster-domain': 'cluster.local',
  'enforce-node-allocatable': 'pods',
  'event-qps': '0',
  'eviction-hard': `${EVICTION_HARD},nodefs.inodesFree<5%`,
  'image-gc-high-threshold': String(IMAGE_GC_HIGH),
  'image-gc-low-threshold': String(IMAGE_GC_LOW),
  kubeconfig: '/var/lib/kubelet/kubeconfig',
  'node-status-update-frequency': '10s',
  'pod-manifest-path': '/etc/kubernetes/manifests',
  'pod-max-pids': '-1',
  'protect-kernel-defaults': 'true',
  'read-only-port': '0',
  'resolv-conf': '/run/systemd/resolve/resolv.conf',
  'rotate-certificates': 'true',
  'streaming-connection-idle-timeout': '4h',
  'system-reserved': 'cpu=0,memory=0',
  'tls-cert-file': '/etc/kubernetes/certs/kubeletserver.crt',
  'tls-cipher-suites': CIPHER_SUITES.join(','),
  'tls-private-key-file': '/etc/kubernetes/certs/kubeletserver.key',
};

export function kubeletFlags(input: BootstrapInput): KubeletFlags {
  const { settings, shape, taints } = input;
  return {
    ...BASE,
    ...versionFlags(input),
    'feature-gates': featureGates(input).join(','),
    'cluster-dns': settings.dnsServiceIp,
    'kube-reserved': `cpu=${kubeReservedMillicores(shape.cpus)}m,memory=${kubeReservedMebibytes(shape.memoryGiB)}Mi`,
    'max-pods': String(shape.maxPods),
    'register-with-taints': [...taints.regular, ...taints.startup].map(formatTaint).join(','),
    ...classFlags(input),
  };
}

export function formatFlags(flags: KubeletFlags): string {
  return Object.entries(flags)
    .filter(([, value]) => value !== '')
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => `--${name}=${value}`)
    .join(' ');
}

/** Flags that only some versions of the kubelet know. */
function versionFlags({ settings, kubernetesVersion }: BootstrapInput): KubeletFlags {
  const from = (minor: number): boolean => atLeastMinor(kubernetesVersion, minor);
  return {
    ...(from(30)
      ? {
          'image-credential-provider-bin-dir': CREDENTIAL_PROVIDER,
          'image-credential-provider-config': `${CREDENTIAL_PROVIDER}-config.yaml`,
        }
      : { 'azure-container-registry-config': CLOUD_CONFIG }),
    ...(from(31) ? {} : { 'keep-terminated-pod-volumes': 'false' }),
    ...(from(34) ? {} : { 'cloud-config': CLOUD_CONFIG }),
    ...(from(35) ? {} : { 'pod-infra-container-image': pauseImage(settings.environment.registry) }),
  };
}

/** Features that a kubelet of this version only enables by a feature gate. */
function featureGates({ spec, kubernetesVersion }: BootstrapInput): readonly string[] {
  const from = (minor: number): boolean => atLeastMinor(kubernetesVersion, minor);
  return [
    ...(from(30) ? [] : ['DisableKubeletCloudCredentialProviders=false']),
    // Otherwise the kubelet does not start with another than the default period.
    ...(from(36) || cfsPeriod(spec) === undefined ? [] : ['CustomCPUCFSQuotaPeriod=true']),
  ];
}

/** In milliseconds; undefined when the class does not set it, NaN when it cannot be parsed. */
function cfsPeriod(spec: AksNodeClassSpec | undefined): number | undefined {
  const text = spec?.kubelet?.cpuCFSQuotaPeriod;
  const period = text === undefined ? 0 : (Duration.tryParse(text)?.milliseconds ?? Number.NaN);
  return period === 0 || period === DEFAULT_CFS_PERIOD ? undefined : period;
}

/** Settings of the class, valid by the CRD, with which a kubelet does not start. */
export function kubeletObjection(spec: AksNodeClassSpec | undefined): ConditionCause | undefined {
  const { imageGCHighThresholdPercent: high = IMAGE_GC_HIGH, imageGCLowThresholdPercent: low = IMAGE_GC_LOW } =
    spec?.kubelet ?? {};
  if (low >= high) return { kind: 'imageThresholdsRefused', high, low };
  const period = cfsPeriod(spec);
  if (period === undefined || (period >= LEAST_CFS_PERIOD && period <= LONGEST_CFS_PERIOD)) return undefined;
  return { kind: 'cfsPeriodRefused', period: spec?.kubelet?.cpuCFSQuotaPeriod ?? '' };
}

function classFlags({ spec }: BootstrapInput): KubeletFlags {
  const kubelet = spec?.kubelet;
  if (kubelet === undefined) return {};
  const { containerLogMaxSize: logSize } = kubelet;
  const flags: Readonly<Record<string, string | number | boolean | undefined>> = {
    'allowed-unsafe-sysctls': kubelet.allowedUnsafeSysctls?.join(','),
    'container-log-max-files': kubelet.containerLogMaxFiles,
    'container-log-max-size': logSize === undefined ? undefined : kubernetesQuantity(logSize),
    'cpu-cfs-quota': kubelet.cpuCFSQuota,
    'cpu-cfs-quota-period': cfsPeriod(spec) === undefined ? undefined : kubelet.cpuCFSQuotaPeriod,
    'cpu-manager-policy': kubelet.cpuManagerPolicy,
    'fail-swap-on': kubelet.failSwapOn,
    'image-gc-high-threshold': kubelet.imageGCHighThresholdPercent,
    'image-gc-low-threshold': kubelet.imageGCLowThresholdPercent,
    'pod-max-pids': kubelet.podPidsLimit,
    'topology-manager-policy': kubelet.topologyManagerPolicy,
  };
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
