/** The flags of kubelets by minor version, and validation of their values, as far as AKS nodes use them. */
import { Duration } from '../../units/duration.ts';
import { Quantity } from '../../units/quantity.ts';

const FLAGS: ReadonlySet<string> = new Set(
  `address allowed-unsafe-sysctls anonymous-auth authentication-token-webhook authorization-mode cgroups-per-qos
   client-ca-file cloud-provider cluster-dns cluster-domain container-log-max-files container-log-max-size cpu-cfs-quota
   cpu-cfs-quota-period cpu-manager-policy enforce-node-allocatable event-qps eviction-hard fail-swap-on feature-gates
   image-credential-provider-bin-dir image-credential-provider-config image-gc-high-threshold image-gc-low-threshold
   kube-reserved kubeconfig max-pods node-status-update-frequency pod-manifest-path pod-max-pids protect-kernel-defaults
   read-only-port register-with-taints resolv-conf rotate-certificates streaming-connection-idle-timeout system-reserved
   tls-cert-file tls-cipher-suites tls-private-key-file topology-manager-policy`.split(/\s+/),
);
/** Removed flags, with the first minor version without them. */
const REMOVED: ReadonlyMap<string, number> = new Map([
  ['azure-container-registry-config', 30],
  ['keep-terminated-pod-volumes', 31],
  ['cloud-config', 34],
  ['pod-infra-container-image', 35],
]);

export function isKubeletFlag(name: string, minor: number): boolean {
  return FLAGS.has(name) || minor < (REMOVED.get(name) ?? 0);
}

const SECOND = 1_000;
/** The default period of CPU quotas in milliseconds. */
const CFS_PERIOD = 100;
/** First minor version that accepts other periods without a feature gate. */
const ANY_PERIOD = 36;
const PERIOD_GATE = 'CustomCPUCFSQuotaPeriod=true';

/** Whether the values of these flags are valid; otherwise the kubelet does not start. */
export function hasValidValues(flags: ReadonlyMap<string, string>, minor: number): boolean {
  const percent = (name: string): number => Number(flags.get(name));
  const logSize = flags.get('container-log-max-size');
  return (
    !(percent('image-gc-low-threshold') >= percent('image-gc-high-threshold')) &&
    (logSize === undefined || Quantity.tryParse(logSize) !== undefined) &&
    hasValidPeriod(flags, minor)
  );
}

function hasValidPeriod(flags: ReadonlyMap<string, string>, minor: number): boolean {
  const text = flags.get('cpu-cfs-quota-period');
  if (text === undefined) return true;
  const period = Duration.tryParse(text)?.milliseconds ?? 0;
  const isFree = minor >= ANY_PERIOD || (flags.get('feature-gates') ?? '').split(',').includes(PERIOD_GATE);
  return isFree ? period >= 1 && period <= SECOND : period === CFS_PERIOD;
}
