import { describe, expect, it } from 'vitest';
import { aksNodeClassHash } from './aksNodeClassHash.ts';
import type { AksNodeClassSpec } from './kinds/aksNodeClass.ts';

/** Specs as a user may write them, and what the Azure provider 1.10.2 hashes them to. */
const VECTORS: readonly (readonly [object, string])[] = [
  [{}, '3440710265952292269'],
  [{ imageFamily: 'Ubuntu', osDiskSizeGB: 128 }, '11637731675550486674'],
  [{ imageFamily: 'AzureLinux', osDiskSizeGB: 30, tags: { a: 'b' } }, '11823785015766094089'],
  [{ imageFamily: 'Ubuntu', osDiskSizeGB: 128, kubelet: {} }, '11014318870313912320'],
  [
    {
      imageFamily: 'Ubuntu',
      osDiskSizeGB: 128,
      kubelet: {
        cpuManagerPolicy: 'static',
        cpuCFSQuota: false,
        cpuCFSQuotaPeriod: '100ms',
        imageGCHighThresholdPercent: 85,
        imageGCLowThresholdPercent: 0,
        topologyManagerPolicy: 'none',
        allowedUnsafeSysctls: ['kernel.msg*', 'net.core.somaxconn'],
        containerLogMaxSize: '50Mi',
        containerLogMaxFiles: 5,
        podPidsLimit: -1,
        failSwapOn: false,
      },
    },
    '13816177729234439348',
  ],
  [
    {
      vnetSubnetID: '/subscriptions/x/resourceGroups/y/providers/Microsoft.Network/virtualNetworks/v/subnets/s',
      fipsMode: 'FIPS',
      maxPods: 30,
      security: { encryptionAtHost: true, trustedLaunch: { vtpm: true, secureBoot: false } },
      gpu: { mode: 'None' },
      artifactStreaming: { enabled: true },
    },
    '17312021873634108732',
  ],
  [{ security: {}, gpu: {}, artifactStreaming: {}, linuxOSConfig: {} }, '5711117623465459211'],
  [
    {
      localDNS: {
        mode: 'Required',
        vnetDNSOverrides: [
          {
            zone: '.',
            queryLogging: 'Error',
            protocol: 'PreferUDP',
            forwardDestination: 'VnetDNS',
            forwardPolicy: 'Random',
            maxConcurrent: 0,
            cacheDuration: '1h',
            serveStaleDuration: '30m',
            serveStale: 'Immediate',
          },
          {
            zone: 'cluster.local',
            queryLogging: 'Error',
            protocol: 'PreferUDP',
            forwardDestination: 'ClusterCoreDNS',
            forwardPolicy: 'Random',
            maxConcurrent: 0,
            cacheDuration: '1h',
            serveStaleDuration: '30m',
            serveStale: 'Immediate',
          },
        ],
        kubeDNSOverrides: [],
      },
    },
    '12129553366268261920',
  ],
  [
    {
      linuxOSConfig: {
        swapFileSize: '1500Mi',
        transparentHugePageDefrag: 'defer+madvise',
        transparentHugePageEnabled: 'madvise',
        sysctls: {
          fsAioMaxNr: 1000,
          fsFileMax: 1001,
          fsInotifyMaxUserWatches: 1002,
          fsNrOpen: 1003,
          kernelThreadsMax: 1004,
          netCoreNetdevMaxBacklog: 1005,
          netCoreOptmemMax: 1006,
          netCoreRmemDefault: 1007,
          netCoreRmemMax: 1008,
          netCoreSomaxconn: 1009,
          netCoreWmemDefault: 1010,
          netCoreWmemMax: 1011,
          netIPv4NeighDefaultGcThresh1: 1012,
          netIPv4NeighDefaultGcThresh2: 1013,
          netIPv4NeighDefaultGcThresh3: 1014,
          netIPv4TCPFinTimeout: 1015,
          netIPv4TCPKeepaliveProbes: 1016,
          netIPv4TCPKeepaliveTime: 1017,
          netIPv4TCPMaxSynBacklog: 1018,
          netIPv4TCPMaxTwBuckets: 1019,
          netIPv4TCPKeepaliveIntvl: 1020,
          netNetfilterNfConntrackBuckets: 1021,
          netNetfilterNfConntrackMax: 1022,
          vmMaxMapCount: 1023,
          vmSwappiness: 1024,
          vmVfsCachePressure: 1025,
          netIPv4TCPTwReuse: true,
          netIPv4IPLocalPortRange: '32768 60999',
        },
      },
    },
    '12835843148617030866',
  ],
  [{ kubelet: { cpuCFSQuotaPeriod: '0s' } }, '17418120950731373595'],
];

describe('aksNodeClassHash', () => {
  it.each(VECTORS)('hashes %j to %s', (spec, expected) => {
    expect(aksNodeClassHash({ spec: spec as AksNodeClassSpec })).toBe(expected);
  });

  it('ignores tags, which are changed in place', () => {
    const spec = { imageFamily: 'Ubuntu', osDiskSizeGB: 128 } as const;
    expect(aksNodeClassHash({ spec: { ...spec, tags: { team: 'a' } } })).toBe(aksNodeClassHash({ spec }));
  });
});
