/** Schema of `spec.linuxOSConfig` of an AKSNodeClass. */
import { boolean, integer, object, oneOf, string } from '../schema/builder.ts';
import type { ValidationRule } from '../schema/structuralSchema.ts';
import { SIZE_PATTERN } from './aksKubelet.ts';

const sysctl = (name: string, minimum: number, maximum: number) =>
  integer({ description: `The kernel setting ${name}.`, format: 'int32', minimum, maximum });

function notAbove(lower: string, upper: string): ValidationRule {
  return {
    rule: `!has(self.${lower}) || !has(self.${upper}) || self.${lower} <= self.${upper}`,
    message: `${lower} must not be greater than ${upper}`,
  };
}

const RANGE = 'self.netIPv4IPLocalPortRange';
const FIRST = `int(${RANGE}.split(' ')[0])`;
const LAST = `int(${RANGE}.split(' ')[1])`;

function portRule(condition: string, message: string): ValidationRule {
  return { rule: `!has(${RANGE}) || ${condition}`, message: `netIPv4IPLocalPortRange: ${message}` };
}

const sysctls = object(
  {
    fsAioMaxNr: sysctl('fs.aio-max-nr', 65536, 6553500),
    fsFileMax: sysctl('fs.file-max', 8192, 12000500),
    fsInotifyMaxUserWatches: sysctl('fs.inotify.max_user_watches', 781250, 2097152),
    fsNrOpen: sysctl('fs.nr_open', 8192, 20000500),
    kernelThreadsMax: sysctl('kernel.threads-max', 20, 513785),
    netCoreNetdevMaxBacklog: sysctl('net.core.netdev_max_backlog', 1000, 3240000),
    netCoreOptmemMax: sysctl('net.core.optmem_max', 20480, 4194304),
    netCoreRmemDefault: sysctl('net.core.rmem_default', 212992, 134217728),
    netCoreRmemMax: sysctl('net.core.rmem_max', 212992, 134217728),
    netCoreSomaxconn: sysctl('net.core.somaxconn', 4096, 3240000),
    netCoreWmemDefault: sysctl('net.core.wmem_default', 212992, 134217728),
    netCoreWmemMax: sysctl('net.core.wmem_max', 212992, 134217728),
    netIPv4IPLocalPortRange: string({
      description: 'The ports for outgoing connections, first and last with a space between: `32768 60999`.',
      pattern: '^\\d+ \\d+$',
    }),
    netIPv4NeighDefaultGcThresh1: sysctl('net.ipv4.neigh.default.gc_thresh1', 128, 80000),
    netIPv4NeighDefaultGcThresh2: sysctl('net.ipv4.neigh.default.gc_thresh2', 512, 90000),
    netIPv4NeighDefaultGcThresh3: sysctl('net.ipv4.neigh.default.gc_thresh3', 1024, 100000),
    netIPv4TCPFinTimeout: sysctl('net.ipv4.tcp_fin_timeout', 5, 120),
    netIPv4TCPKeepaliveIntvl: sysctl('net.ipv4.tcp_keepalive_intvl', 10, 90),
    netIPv4TCPKeepaliveProbes: sysctl('net.ipv4.tcp_keepalive_probes', 1, 15),
    netIPv4TCPKeepaliveTime: sysctl('net.ipv4.tcp_keepalive_time', 30, 432000),
    netIPv4TCPMaxSynBacklog: sysctl('net.ipv4.tcp_max_syn_backlog', 128, 3240000),
    netIPv4TCPMaxTwBuckets: sysctl('net.ipv4.tcp_max_tw_buckets', 8000, 1440000),
    netIPv4TCPTwReuse: boolean({ description: 'The kernel setting net.ipv4.tcp_tw_reuse.' }),
    netNetfilterNfConntrackBuckets: sysctl('net.netfilter.nf_conntrack_buckets', 65536, 524288),
    netNetfilterNfConntrackMax: sysctl('net.netfilter.nf_conntrack_max', 131072, 2097152),
    vmMaxMapCount: sysctl('vm.max_map_count', 65530, 262144),
    vmSwappiness: sysctl('vm.swappiness', 0, 100),
    vmVfsCachePressure: sysctl('vm.vfs_cache_pressure', 0, 100),
  },
  {
    description: 'Kernel settings of the node.',
    rules: [
      notAbove('netCoreRmemDefault', 'netCoreRmemMax'),
      notAbove('netCoreWmemDefault', 'netCoreWmemMax'),
      notAbove('netIPv4NeighDefaultGcThresh1', 'netIPv4NeighDefaultGcThresh2'),
      notAbove('netIPv4NeighDefaultGcThresh2', 'netIPv4NeighDefaultGcThresh3'),
      portRule(`(${FIRST} >= 1024 && ${FIRST} <= 60999)`, 'the first port must lie between 1024 and 60999'),
      portRule(`(${LAST} >= 32768 && ${LAST} <= 65535)`, 'the last port must lie between 32768 and 65535'),
      portRule(`${FIRST} <= ${LAST}`, 'the first port must not be greater than the last'),
    ],
  },
);

export const linuxOsConfig = object(
  {
    swapFileSize: string({
      description: 'The size of a swap file, for example `1500Mi`. Needs `kubelet.failSwapOn: false`.',
      pattern: SIZE_PATTERN,
    }),
    sysctls,
    transparentHugePageDefrag: oneOf(['always', 'defer', 'defer+madvise', 'madvise', 'never'], {
      description: 'How hard the kernel tries to free memory for huge pages.',
    }),
    transparentHugePageEnabled: oneOf(['always', 'madvise', 'never'], {
      description: 'Which memory is backed by huge pages.',
    }),
  },
  { description: 'Settings of the operating system.' },
);
