/** Node settings from a class's `linuxOSConfig`: kernel parameters, huge pages and swap. */
import type { AksNodeClassSpec } from '../../api/kinds/aksNodeClass.ts';
import { Quantity } from '../../units/quantity.ts';

type LinuxConfig = NonNullable<AksNodeClassSpec['linuxOSConfig']>;
type Sysctls = NonNullable<LinuxConfig['sysctls']>;

const MEBI = 2 ** 20;

/** AKS's defaults, which a class may override. */
const BASE: Readonly<Record<string, number>> = {
  'net.core.message_burst': 80,
  'net.core.message_cost': 40,
  'net.core.somaxconn': 16384,
  'net.ipv4.neigh.default.gc_thresh1': 4096,
  'net.ipv4.neigh.default.gc_thresh2': 8192,
  'net.ipv4.neigh.default.gc_thresh3': 16384,
  'net.ipv4.tcp_max_syn_backlog': 16384,
  'net.ipv4.tcp_retries2': 8,
};

/** Kernel parameters by the field of the class. */
const PARAMETERS: Readonly<Record<keyof Sysctls, string>> = {
  fsAioMaxNr: 'fs.aio-max-nr',
  fsFileMax: 'fs.file-max',
  fsInotifyMaxUserWatches: 'fs.inotify.max_user_watches',
  fsNrOpen: 'fs.nr_open',
  kernelThreadsMax: 'kernel.threads-max',
  netCoreNetdevMaxBacklog: 'net.core.netdev_max_backlog',
  netCoreOptmemMax: 'net.core.optmem_max',
  netCoreRmemDefault: 'net.core.rmem_default',
  netCoreRmemMax: 'net.core.rmem_max',
  netCoreSomaxconn: 'net.core.somaxconn',
  netCoreWmemDefault: 'net.core.wmem_default',
  netCoreWmemMax: 'net.core.wmem_max',
  netIPv4IPLocalPortRange: 'net.ipv4.ip_local_port_range',
  netIPv4NeighDefaultGcThresh1: 'net.ipv4.neigh.default.gc_thresh1',
  netIPv4NeighDefaultGcThresh2: 'net.ipv4.neigh.default.gc_thresh2',
  netIPv4NeighDefaultGcThresh3: 'net.ipv4.neigh.default.gc_thresh3',
  netIPv4TCPFinTimeout: 'net.ipv4.tcp_fin_timeout',
  netIPv4TCPKeepaliveIntvl: 'net.ipv4.tcp_keepalive_intvl',
  netIPv4TCPKeepaliveProbes: 'net.ipv4.tcp_keepalive_probes',
  netIPv4TCPKeepaliveTime: 'net.ipv4.tcp_keepalive_time',
  netIPv4TCPMaxSynBacklog: 'net.ipv4.tcp_max_syn_backlog',
  netIPv4TCPMaxTwBuckets: 'net.ipv4.tcp_max_tw_buckets',
  netIPv4TCPTwReuse: 'net.ipv4.tcp_tw_reuse',
  netNetfilterNfConntrackBuckets: 'net.netfilter.nf_conntrack_buckets',
  netNetfilterNfConntrackMax: 'net.netfilter.nf_conntrack_max',
  vmMaxMapCount: 'vm.max_map_count',
  vmSwappiness: 'vm.swappiness',
  vmVfsCachePressure: 'vm.vfs_cache_pressure',
};

/** The sysctl file of a node. */
export function sysctlFile(sysctls: Sysctls | undefined): string {
  const parameters: Record<string, string | number> = { ...BASE };
  for (const [field, parameter] of Object.entries(PARAMETERS)) {
    const value = sysctls?.[field as keyof Sysctls];
    if (value !== undefined) parameters[parameter] = typeof value === 'boolean' ? Number(value) : value;
  }
  const lines = Object.entries(parameters).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return lines.map(([parameter, value]) => `${parameter}=${value}\n`).join('');
}

/** The variables of the start-up script for huge pages and swap. */
export function linuxVariables(config: LinuxConfig | undefined): Readonly<Record<string, string>> {
  const {
    transparentHugePageEnabled: enabled = '',
    transparentHugePageDefrag: defrag = '',
    swapFileSize,
  } = config ?? {};
  return {
    SHOULD_CONFIG_SWAP_FILE: String(swapFileSize !== undefined),
    SHOULD_CONFIG_TRANSPARENT_HUGE_PAGE: String(enabled !== '' || defrag !== ''),
    SWAP_FILE_SIZE_MB: String(swapFileSize === undefined ? 0 : mebibytes(swapFileSize)),
    THP_DEFRAG: defrag,
    THP_ENABLED: enabled,
  };
}

/** Rounded to MiB. */
export function mebibytes(size: string): number {
  return Math.round(Quantity.parse(kubernetesQuantity(size)).value() / MEBI);
}

/** The CRD allows sizes with `K`, which Kubernetes only accepts as `k`. */
export function kubernetesQuantity(size: string): string {
  return size.replace(/K$/, 'k');
}
