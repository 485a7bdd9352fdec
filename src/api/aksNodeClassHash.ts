/** The hash by which a change of a node class is detected, as a decimal number. */
import type { AksNodeClass } from './kinds/aksNodeClass.ts';
import { structureHash } from './structureHash.ts';
import type { GoField, GoStruct, GoType } from './structureHash.ts';

/** Version of the hash algorithm, stored beside the hash: hashes of different versions are never compared. */
export const AKS_NODE_CLASS_HASH_VERSION = 'v3';

/** Most Go names are the capitalized JSON names; exceptions are given as `json=Go`. */
function fields(type: GoType, ...names: readonly string[]): GoField[] {
  return names.map((entry) => {
    const [json = entry, go] = entry.split('=');
    return { name: go ?? json.charAt(0).toUpperCase() + json.slice(1), json, type };
  });
}

const int32 = (...names: readonly string[]) => fields('pointer-to-int32', ...names);
const bool = (...names: readonly string[]) => fields('pointer-to-bool', ...names);
const text = (...names: readonly string[]) => fields('pointer-to-string', ...names);
const pointer = (name: string, struct: GoStruct) => fields({ struct, pointer: true }, name);

const KUBELET: GoStruct = {
  name: 'KubeletConfiguration',
  fields: [
    ...text('cpuManagerPolicy=CPUManagerPolicy'),
    ...bool('cpuCFSQuota=CPUCFSQuota'),
    ...fields('duration', 'cpuCFSQuotaPeriod=CPUCFSQuotaPeriod'),
    ...int32('imageGCHighThresholdPercent', 'imageGCLowThresholdPercent'),
    ...text('topologyManagerPolicy'),
    ...fields({ listOf: 'string' }, 'allowedUnsafeSysctls'),
    ...text('containerLogMaxSize'),
    ...int32('containerLogMaxFiles'),
    ...fields('pointer-to-int64', 'podPidsLimit'),
    ...bool('failSwapOn'),
  ],
};

const SECURITY: GoStruct = {
  name: 'Security',
  fields: [
    ...bool('encryptionAtHost'),
    ...pointer('trustedLaunch', { name: 'TrustedLaunch', fields: bool('vtpm=VTPM', 'secureBoot') }),
  ],
};

const ZONE_OVERRIDE: GoStruct = {
  name: 'LocalDNSZoneOverride',
  fields: [
    ...fields('string', 'zone', 'queryLogging', 'protocol', 'forwardDestination', 'forwardPolicy'),
    ...int32('maxConcurrent'),
    ...fields('nillable-duration', 'cacheDuration', 'serveStaleDuration'),
    ...fields('string', 'serveStale'),
  ],
};

const LOCAL_DNS: GoStruct = {
  name: 'LocalDNS',
  fields: [
    ...fields('string', 'mode'),
    ...fields({ listOf: { struct: ZONE_OVERRIDE } }, 'vnetDNSOverrides', 'kubeDNSOverrides'),
  ],
};

const SYSCTLS: GoStruct = {
  name: 'SysctlConfiguration',
  fields: [
    ...int32('fsAioMaxNr', 'fsFileMax', 'fsInotifyMaxUserWatches', 'fsNrOpen', 'kernelThreadsMax'),
    ...int32('netCoreNetdevMaxBacklog', 'netCoreOptmemMax', 'netCoreRmemDefault', 'netCoreRmemMax'),
    ...int32('netCoreSomaxconn', 'netCoreWmemDefault', 'netCoreWmemMax'),
    ...text('netIPv4IPLocalPortRange'),
    ...int32('netIPv4NeighDefaultGcThresh1', 'netIPv4NeighDefaultGcThresh2', 'netIPv4NeighDefaultGcThresh3'),
    ...int32('netIPv4TCPFinTimeout', 'netIPv4TCPKeepaliveProbes', 'netIPv4TCPKeepaliveTime'),
    ...int32('netIPv4TCPMaxSynBacklog', 'netIPv4TCPMaxTwBuckets'),
    ...bool('netIPv4TCPTwReuse'),
    ...int32('netIPv4TCPKeepaliveIntvl', 'netNetfilterNfConntrackBuckets', 'netNetfilterNfConntrackMax'),
    ...int32('vmMaxMapCount=VMMaxMapCount', 'vmSwappiness=VMSwappiness', 'vmVfsCachePressure=VMVfsCachePressure'),
  ],
};

const LINUX_OS: GoStruct = {
  name: 'LinuxOSConfiguration',
  fields: [
    ...text('swapFileSize'),
    ...pointer('sysctls', SYSCTLS),
    ...text('transparentHugePageDefrag', 'transparentHugePageEnabled'),
  ],
};

/** Tags are omitted on purpose: they are updated on running instances. */
const SPEC: GoStruct = {
  name: 'AKSNodeClassSpec',
  fields: [
    ...text('vnetSubnetID=VNETSubnetID'),
    ...int32('osDiskSizeGB=OSDiskSizeGB'),
    ...text('imageFamily', 'fipsMode=FIPSMode'),
    ...pointer('kubelet', KUBELET),
    ...int32('maxPods'),
    ...pointer('security', SECURITY),
    ...pointer('localDNS', LOCAL_DNS),
    ...pointer('gpu=GPU', { name: 'GPU', fields: text('mode') }),
    ...pointer('artifactStreaming', { name: 'ArtifactStreaming', fields: bool('enabled') }),
    ...pointer('linuxOSConfig', LINUX_OS),
  ],
};

export function aksNodeClassHash(nodeClass: Pick<AksNodeClass, 'spec'>): string {
  return structureHash(SPEC, nodeClass.spec ?? {});
}
